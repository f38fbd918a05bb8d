// Shapes by further names, products along dimensions, and tensors without dimensions.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

Sample sample(const char* what, std::vector<Argument> arguments,
              std::function<std::vector<Tensor>(const Inputs&)> f,
              std::vector<std::int64_t> sizes = {0, 1, 3, 8})
{
    return {.what = what, .arguments = std::move(arguments), .call = std::move(f), .sizes = std::move(sizes)};
}

OpInfo made(const char* name, std::vector<Sample> samples, std::vector<Mistake> mistakes = {})
{
    return {.name = name, .is_op = false, .samples = std::move(samples), .mistakes = std::move(mistakes)};
}

// Strides that need more dimensions than kernels walk, which are six.
void add_many_dimensions(std::vector<OpInfo>& rows)
{
    rows.push_back(
        made("many_dimensions",
             {sample("tiles along each of four", {arg({n(), 2, 3, 2})},
                     [](const Inputs& in) {
                         return std::vector{tile(in[0], {2, 3, 2, 2}), repeat(in[0], {2, 1, 2, 1, 3, 2})};
                     }),
              sample("space to depth", {arg({n(), 4, 6, 2, 2})},
                     [](const Inputs& in) {
                         const Tensor cut = reshape(in[0], {in[0].size(0), 2, 2, 3, 2, 2, 2});
                         const Tensor deep = permute(cut, {0, 2, 4, 6, 5, 3, 1});
                         return std::vector{deep.contiguous(), deep * deep, sum(deep, {1, 3, 5}),
                                            amax(deep, {1, 3}), softmax(deep, 3)};
                     },
                     {0, 1, 3}),
              sample("eight in reverse beside one that is repeated",
                     {arg({2, 1, 2, 3, 2, 2, 2, n()}), arg({3, 2, 1, 2})},
                     [](const Inputs& in) {
                         const Tensor back = permute(in[0], {7, 6, 5, 4, 3, 2, 1, 0});
                         return std::vector{back + in[1], cat({back, back}, 1),
                                            matmul(back, transpose(back, -1, -2))};
                     },
                     {0, 1, 3}),
              sample("of every dtype",
                     {of(f16, arg({2, n(), 2, 2, 2, 2, 3})), truth({2, n(), 2, 2, 2, 2, 3}),
                      whole({2, n(), 2, 2, 2, 2, 3}, -9, 9)},
                     [](const Inputs& in) {
                         std::vector<Tensor> out;
                         for (const Tensor& t : in) {
                             const Tensor turned = permute(t, {6, 5, 4, 3, 2, 1, 0});
                             out.push_back(turned.contiguous());
                             out.push_back(cast(turned, f32));
                             out.push_back(narrow(turned, 0, 1, 2).contiguous());
                         }
                         return out;
                     },
                     {0, 1, 5})}));
    rows.back().samples.back().differentiable = false;
}

void add_shapes(std::vector<OpInfo>& rows)
{
    rows.push_back(made("tile_and_roll",
                        {sample("several dimensions", {arg({n(), 3, 2})},
                                [](const Inputs& in) {
                                    return std::vector{tile(in[0], {2, 1}), tile(in[0], {1, 2, 1, 1}),
                                                       roll(in[0], {1, -1}, {0, 1}), roll(in[0], 2)};
                                })},
                        {{"a negative number", [] { tile(ones({3}), {-1}); }, ErrorKind::shape, "[tile]"},
                         {"shifts without dimensions",
                          [] {
                              roll(ones({3}), {1, 2}, {0});
                          },
                          ErrorKind::argument, "(2) shifts"}}));
    rows.push_back(
        made("unflatten",
             {sample("known and left over", {arg({n(), 6})},
                     [](const Inputs& in) {
                         return std::vector{unflatten(in[0], 1, {2, 3}), unflatten(in[0], -1, {-1, 2})};
                     })},
             {{"no sizes", [] { unflatten(ones({3}), 0, {}); }, ErrorKind::argument, "[unflatten]"},
              {"sizes that do not fit",
               [] {
                   unflatten(ones({6}), 0, {4, 2});
               },
               ErrorKind::shape, "[unflatten]"}}));
    rows.push_back(made("squeeze_and_movedim",
                        {sample("several dimensions", {arg({n(), 1, 3, 1})},
                                [](const Inputs& in) {
                                    return std::vector{squeeze(in[0], Dims{1, 3}), squeeze(in[0], Dims{1, 2}),
                                                       movedim(in[0], Dims{0, 2}, Dims{-1, 0}),
                                                       contiguous(in[0])};
                                })},
                        {{"a dimension twice",
                          [] {
                              squeeze(ones({1, 1}), Dims{0, -2});
                          },
                          ErrorKind::argument, "[squeeze]"},
                         {"fewer places",
                          [] {
                              movedim(ones({1, 1}), Dims{0, 1}, Dims{0});
                          },
                          ErrorKind::argument, "[movedim]"}}));
    rows.push_back(made("meshgrid",
                        {sample("both ways", {arg({n()}), arg({3}), arg({2})},
                                [](const Inputs& in) {
                                    auto out = meshgrid({in[0], in[1], in[2]});
                                    for (const Tensor& t : meshgrid({in[0], in[1], in[2]}, MeshIndexing::xy))
                                        out.push_back(t);
                                    return out;
                                })},
                        {{"nothing", [] { meshgrid({}); }, ErrorKind::argument, "[meshgrid]"},
                         {"a matrix",
                          [] {
                              meshgrid({ones({2, 2})});
                          },
                          ErrorKind::shape, "[2, 2]"},
                         {"two dtypes",
                          [] {
                              meshgrid({ones({2}), arange(2)});
                          },
                          ErrorKind::dtype, "i32"}}));
    rows.push_back(made("where_with_numbers",
                        {sample("on either side", {truth({n(), 3}), arg({n(), 3})}, [](const Inputs& in) {
                            return std::vector{where(in[0], in[1], 0.5), where(in[0], -2, in[1])};
                        })}));
    rows.push_back(made("without_dimensions",
                        {sample("reductions, orders and views", {arg({}), whole({}, 0, 0)},
                                [](const Inputs& in) {
                                    const Tensor &x = in[0], &i = in[1];
                                    return std::vector{sum(x, {0}),
                                                       softmax(x, 0),
                                                       log_softmax(x, -1),
                                                       amax(x, {-1}),
                                                       max(x, 0).first,
                                                       argmax(x, -1),
                                                       cumsum(x, 0),
                                                       cumprod(x, -1),
                                                       sort(x, 0).first,
                                                       topk(x, 1).first,
                                                       squeeze(x, 0),
                                                       transpose(x, 0, -1),
                                                       flip(x, {0}),
                                                       movedim(x, 0, 0),
                                                       logsumexp(x, {0}),
                                                       prod(x, {0}, true),
                                                       gather(x, 0, i),
                                                       median(x, 0).first,
                                                       norm(x, 2, {0}),
                                                       var(x, {0}, {.correction = 0}),
                                                       scatter(x, 0, i, 2),
                                                       scatter_add(x, 0, i, x),
                                                       index_select(x, 0, reshape(i, {1}))};
                                },
                                {1})},
                        {{"another dimension", [] { sum(ones({}), {1}); }, ErrorKind::argument, "[sum]"},
                         {"cat",
                          [] {
                              cat({ones({}), ones({})});
                          },
                          ErrorKind::argument, "[cat]"},
                         {"narrow", [] { narrow(ones({}), 0, 0, 1); }, ErrorKind::argument, "[narrow]"}}));
}

void add_products_along(std::vector<OpInfo>& rows)
{
    rows.push_back(
        {.name = "linear_scan",
         .samples = {sample("the last dimension", {arg({3, n()}), arg({3, n()})},
                            apply(ops::linear_scan_op, {{"dim", std::int64_t{1}}}), {0, 1, 7, 256, 257, 700}),
                     sample("the first of three", {arg({n(), 2, 3}), arg({n(), 2, 3})},
                            apply(ops::linear_scan_op, {{"dim", std::int64_t{0}}}), {0, 1, 5, 300})}});
    // floor(x) holds zeros; adding x - floor(x) to what is multiplied would move them
    rows.push_back(
        made("products_with_zeros",
             {sample("of lines", {arg({n(), 4})},
                     [](const Inputs& in) {
                         const Tensor x = where(abs(in[0]) < 0.5, in[0] * 0.0, in[0]);
                         return std::vector{prod(x, {1}), prod(x, {0}, true), cumprod(x, 1), prod(x)};
                     },
                     {1, 3, 6})}));
}

} // namespace

void add_rearranged(std::vector<OpInfo>& rows)
{
    add_many_dimensions(rows);
    add_shapes(rows);
    add_products_along(rows);
}

} // namespace reprise::test
