// More shape functions, products along dimensions, and tensors without dimensions.
#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

// Strides that need more than the six dimensions that kernels support.
void add_many_dimensions(Rows& rows)
{
    rows.composed("many_dimensions");
    rows.sample("tiles along each of four", {arg({n(), 2, 3, 2})}, [](const Inputs& in) {
        return std::vector{tile(in[0], {2, 3, 2, 2}), repeat(in[0], {2, 1, 2, 1, 3, 2})};
    });
    rows.sample("space to depth", {arg({n(), 4, 6, 2, 2})}, {0, 1, 3}, [](const Inputs& in) {
        const Tensor cut = reshape(in[0], {in[0].size(0), 2, 2, 3, 2, 2, 2});
        const Tensor deep = permute(cut, {0, 2, 4, 6, 5, 3, 1});
        return std::vector{deep.contiguous(), deep * deep, sum(deep, {1, 3, 5}), amax(deep, {1, 3}),
                           softmax(deep, 3)};
    });
    rows.sample(
        "eight in reverse beside one that is repeated", {arg({2, 1, 2, 3, 2, 2, 2, n()}), arg({3, 2, 1, 2})},
        {0, 1, 3}, [](const Inputs& in) {
            const Tensor back = permute(in[0], {7, 6, 5, 4, 3, 2, 1, 0});
            return std::vector{back + in[1], cat({back, back}, 1), matmul(back, transpose(back, -1, -2))};
        });
    rows.forward("of every dtype",
                 {of(f16, arg({2, n(), 2, 2, 2, 2, 3})), truth({2, n(), 2, 2, 2, 2, 3}),
                  whole({2, n(), 2, 2, 2, 2, 3}, -9, 9)},
                 {0, 1, 5}, [](const Inputs& in) {
                     std::vector<Tensor> out;
                     for (const Tensor& t : in) {
                         const Tensor turned = permute(t, {6, 5, 4, 3, 2, 1, 0});
                         out.push_back(turned.contiguous());
                         out.push_back(cast(turned, f32));
                         out.push_back(narrow(turned, 0, 1, 2).contiguous());
                     }
                     return out;
                 });
}

void add_shapes(Rows& rows)
{
    rows.composed("tile_and_roll");
    rows.sample("several dimensions", {arg({n(), 3, 2})}, [](const Inputs& in) {
        return std::vector{tile(in[0], {2, 1}), tile(in[0], {1, 2, 1, 1}), roll(in[0], {1, -1}, {0, 1}),
                           roll(in[0], 2)};
    });
    rows.mistake("a negative number", ErrorKind::shape, "[tile]", [] { tile(ones({3}), {-1}); });
    rows.mistake("shifts without dimensions", ErrorKind::argument, "(2) shifts", [] {
        roll(ones({3}), {1, 2}, {0});
    });

    rows.composed("unflatten");
    rows.sample("known and left over", {arg({n(), 6})}, [](const Inputs& in) {
        return std::vector{unflatten(in[0], 1, {2, 3}), unflatten(in[0], -1, {-1, 2})};
    });
    rows.mistake("no sizes", ErrorKind::argument, "[unflatten]", [] { unflatten(ones({3}), 0, {}); });
    rows.mistake("sizes that do not fit", ErrorKind::shape, "[unflatten]", [] {
        unflatten(ones({6}), 0, {4, 2});
    });

    rows.composed("squeeze_and_movedim");
    rows.sample("several dimensions", {arg({n(), 1, 3, 1})}, [](const Inputs& in) {
        return std::vector{squeeze(in[0], Dims{1, 3}), squeeze(in[0], Dims{1, 2}),
                           movedim(in[0], Dims{0, 2}, Dims{-1, 0}), contiguous(in[0])};
    });
    rows.mistake("a dimension twice", ErrorKind::argument, "[squeeze]", [] {
        squeeze(ones({1, 1}), Dims{0, -2});
    });
    rows.mistake("fewer places", ErrorKind::argument, "[movedim]", [] {
        movedim(ones({1, 1}), Dims{0, 1}, Dims{0});
    });

    rows.composed("meshgrid");
    rows.sample("both ways", {arg({n()}), arg({3}), arg({2})}, [](const Inputs& in) {
        auto out = meshgrid({in[0], in[1], in[2]});
        for (const Tensor& t : meshgrid({in[0], in[1], in[2]}, MeshIndexing::xy)) out.push_back(t);
        return out;
    });
    rows.mistake("nothing", ErrorKind::argument, "[meshgrid]", [] { meshgrid({}); });
    rows.mistake("a matrix", ErrorKind::shape, "[2, 2]", [] { meshgrid({ones({2, 2})}); });
    rows.mistake("two dtypes", ErrorKind::dtype, "i32", [] { meshgrid({ones({2}), arange(2)}); });

    rows.composed("where_with_numbers");
    rows.sample("on either side", {truth({n(), 3}), arg({n(), 3})}, [](const Inputs& in) {
        return std::vector{where(in[0], in[1], 0.5), where(in[0], -2, in[1])};
    });

    rows.composed("without_dimensions");
    rows.sample("reductions, orders and views", {arg({}), whole({}, 0, 0)}, {1}, [](const Inputs& in) {
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
    });
    rows.mistake("another dimension", ErrorKind::argument, "[sum]", [] { sum(ones({}), {1}); });
    rows.mistake("cat", ErrorKind::argument, "[cat]", [] { cat({ones({}), ones({})}); });
    rows.mistake("narrow", ErrorKind::argument, "[narrow]", [] { narrow(ones({}), 0, 0, 1); });
}

void add_products_along(Rows& rows)
{
    rows.op("linear_scan");
    rows.sample("the last dimension", {arg({3, n()}), arg({3, n()})}, {0, 1, 7, 256, 257, 700},
                apply(ops::linear_scan_op, {{"dim", std::int64_t{1}}}));
    rows.sample("the first of three", {arg({n(), 2, 3}), arg({n(), 2, 3})}, {0, 1, 5, 300},
                apply(ops::linear_scan_op, {{"dim", std::int64_t{0}}}));

    // floor(x) contains zeros; adding x - floor(x) to the factors would move them
    rows.composed("products_with_zeros");
    rows.sample("of lines", {arg({n(), 4})}, {1, 3, 6}, [](const Inputs& in) {
        const Tensor x = where(abs(in[0]) < 0.5, in[0] * 0.0, in[0]);
        return std::vector{prod(x, {1}), prod(x, {0}, true), cumprod(x, 1), prod(x)};
    });
}

} // namespace

void add_rearranged(Rows& rows)
{
    add_many_dimensions(rows);
    add_shapes(rows);
    add_products_along(rows);
}

} // namespace reprise::test
