// Reading and writing by indices; orders of elements.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

OpInfo made(const char* name, std::vector<Sample> samples, std::vector<Mistake> mistakes = {})
{
    return {.name = name, .is_op = false, .samples = std::move(samples), .mistakes = std::move(mistakes)};
}

Sample sample(const char* what, std::vector<Argument> arguments,
              std::function<std::vector<Tensor>(const Inputs&)> f,
              std::vector<std::int64_t> sizes = {0, 1, 3, 8})
{
    return {.what = what, .arguments = std::move(arguments), .call = std::move(f), .sizes = std::move(sizes)};
}

Sample without_gradient(Sample s)
{
    s.differentiable = false;
    return s;
}

Tensor indices(std::int64_t n) { return zeros({n}, {.dtype = i32}); }

void add_by_index(std::vector<OpInfo>& rows)
{
    rows.push_back(made(
        "index_select",
        {sample("rows and columns", {arg({n(), 4, 3}), whole({5}, 0, 2)},
                [](const Inputs& in) {
                    return std::vector{index_select(in[0], 1, in[1]), index_select(in[0], -1, in[1])};
                }),
         sample("so many indices", {arg({4, 3}), whole({n()}, 0, 3)},
                [](const Inputs& in) { return std::vector{index_select(in[0], 0, in[1])}; }),
         without_gradient(
             sample("integers", {whole({n(), 4}, -99, 99), whole({3}, 0, 3)},
                    [](const Inputs& in) { return std::vector{index_select(in[0], 1, in[1])}; }))},
        {{"a matrix of indices",
          [] {
              index_select(ones({3}), 0, zeros({1, 1}, {.dtype = i32}));
          },
          ErrorKind::shape, "a vector"},
         {"floats for indices", [] { index_select(ones({3}), 0, ones({1})); }, ErrorKind::dtype,
          "must be i32 or i64"},
         {"no such dimension", [] { index_select(ones({3}), 1, indices(1)); }, ErrorKind::argument, "1"}}));
    rows.push_back(made("index_add",
                        {sample("along the middle", {arg({2, 4, n()}), whole({5}, 0, 3), arg({2, 5, n()})},
                                [](const Inputs& in) {
                                    return std::vector{index_add(in[0], 1, in[1], in[2]),
                                                       index_add(in[0], 1, in[1], in[2], -0.5)};
                                })},
                        {{"a source of another shape",
                          [] {
                              index_add(ones({3, 2}), 0, indices(1), ones({2, 2}));
                          },
                          ErrorKind::shape, "[2, 2]"},
                         {"a source of another dtype",
                          [] { index_add(ones({3}), 0, indices(1), zeros({1}, {.dtype = i32})); },
                          ErrorKind::dtype, "i32"}}));
    rows.push_back(made(
        "gather",
        {sample("along each dimension",
                {arg({n(), 3, 4}), whole({n(), 2, 4}, 0, 2), whole({n(), 3, 5}, 0, 3)},
                [](const Inputs& in) {
                    return std::vector{gather(in[0], 1, in[1]), gather(in[0], -1, in[2])};
                }),
         sample("of unknown size", {arg({3, n()}), whole({3, n()}, 0, 2)},
                [](const Inputs& in) { return std::vector{gather(in[0], 0, in[1])}; }),
         without_gradient(sample("integers", {whole({n(), 4}, -99, 99), whole({n(), 2}, 0, 3)},
                                 [](const Inputs& in) { return std::vector{gather(in[0], 1, in[1])}; }))},
        {{"an index of another rank",
          [] {
              gather(ones({3, 2}), 0, indices(2));
          },
          ErrorKind::shape, "[2]"},
         {"an index that is larger beside",
          [] {
              gather(ones({3, 2}), 0, zeros({3, 3}, {.dtype = i32}));
          },
          ErrorKind::shape, "does not lie inside"},
         {"floats for indices", [] { gather(ones({3}), 0, ones({1})); }, ErrorKind::dtype,
          "must be i32 or i64"}}));
    rows.push_back(
        made("scatter_add",
             {sample("along each dimension", {arg({n(), 3}), whole({n(), 5}, 0, 2), arg({n(), 6})},
                     [](const Inputs& in) { return std::vector{scatter_add(in[0], 1, in[1], in[2])}; }),
              sample("rows", {arg({4, n()}), whole({6, n()}, 0, 3), arg({6, n()})},
                     [](const Inputs& in) { return std::vector{scatter_add(in[0], 0, in[1], in[2])}; })},
             {{"a source that is too small", [] { scatter_add(ones({3}), 0, indices(2), ones({1})); },
               ErrorKind::shape, "does not cover"}}));
    rows.push_back(made(
        "scatter",
        {sample("the last wins", {arg({n(), 3}), whole({n(), 5}, 0, 2), arg({n(), 5})},
                [](const Inputs& in) {
                    return std::vector{scatter(in[0], 1, in[1], in[2]), scatter(in[0], 1, in[1], 0.5)};
                }),
         without_gradient(
             sample("integers", {whole({4, n()}, -9, 9), whole({2, n()}, 0, 3), whole({2, n()}, -9, 9)},
                    [](const Inputs& in) { return std::vector{scatter(in[0], 0, in[1], in[2])}; }))},
        {{"a source of another dtype", [] { scatter(ones({3}), 0, indices(1), zeros({1}, {.dtype = i32})); },
          ErrorKind::dtype, "i32"}}));
    OpInfo last{.name = "last_positions", .differentiable = false};
    last.samples = {sample("of each row", {whole({n()}, -1, 5)},
                           apply(ops::last_positions_op, {{"rows", Dim(5)}}), {0, 1, 7, 700})};
    rows.push_back(last);
    rows.push_back(
        made("take", {sample("by flat numbers", {arg({n(), 4}), whole({2, 3}, 0, 3)},
                             [](const Inputs& in) { return std::vector{take(in[0], in[1])}; }, {1, 5})}));
    OpInfo hot = made("one_hot",
                      {sample("of classes", {whole({n(), 2}, 0, 3)},
                              [](const Inputs& in) { return std::vector{one_hot(in[0], 4)}; })},
                      {{"no classes", [] { one_hot(indices(1), 0); }, ErrorKind::argument, "0"}});
    hot.differentiable = false;
    rows.push_back(hot);
}

void add_orders(std::vector<OpInfo>& rows)
{
    rows.push_back(
        made("select",
             {sample("of a matrix", {arg({n(), 4, 3})},
                     [](const Inputs& in) {
                         return std::vector{select(in[0], 1, 2), select(in[0], -1, -1)};
                     })},
             {{"an index outside", [] { select(ones({3}), 0, 3); }, ErrorKind::shape, "(3)"},
              {"an index before the first", [] { select(ones({3}), 0, -4); }, ErrorKind::shape, "(-4)"}}));
    rows.push_back(
        made("slice",
             {sample("by steps", {arg({n(), 7})},
                     [](const Inputs& in) {
                         return std::vector{slice(in[0], 1, {.start = 1, .step = 2}),
                                            slice(in[0], 1, {.start = -4}),
                                            slice(in[0], 1, {.end = -2, .step = 3}),
                                            slice(in[0], 1, {.start = 9}),
                                            slice(in[0], 0, {.step = 2}),
                                            slice(in[0], 0, {.start = -2})};
                     },
                     {2, 3, 8})},
             {{"a step back", [] { slice(ones({3}), 0, {.step = -1}); }, ErrorKind::argument, "flip"}}));
    rows.push_back(made(
        "repeat",
        {sample(
            "copies of the whole", {arg({n(), 3})},
            [](const Inputs& in) {
                return std::vector{repeat(in[0], {2, 1}), repeat(in[0], {2, 1, 3}), repeat(in[0], {0, 1})};
            })},
        {{"too few",
          [] {
              repeat(ones({3, 2}), {2});
          },
          ErrorKind::argument, "[3, 2]"},
         {"a negative number", [] { repeat(ones({3}), {-1}); }, ErrorKind::shape, "-1"}}));
    rows.push_back(made(
        "repeat_interleave",
        {sample("each element", {arg({n(), 3})},
                [](const Inputs& in) {
                    return std::vector{repeat_interleave(in[0], 2, 0), repeat_interleave(in[0], 3, -1)};
                })},
        {{"a negative number", [] { repeat_interleave(ones({3}), -1, 0); }, ErrorKind::argument, "-1"}}));
    rows.push_back(made("roll", {sample("forward, back and around", {arg({n(), 4})}, [](const Inputs& in) {
                            return std::vector{roll(in[0], 1, 1), roll(in[0], -1, 0), roll(in[0], 7, 0)};
                        })}));
    rows.push_back(made("axes", {sample("under other names", {arg({n(), 3, 4})}, [](const Inputs& in) {
                            return std::vector{movedim(in[0], 0, -1), movedim(in[0], 2, 1),
                                               swapaxes(in[0], 0, 2), expand_dims(in[0], 1),
                                               view(in[0], {-1, 12})};
                        })}));
}

void add_products_by_name(std::vector<OpInfo>& rows)
{
    rows.push_back(made("matrix_products",
                        {sample("of two", {arg({n(), 4}), arg({4, 3}), arg({4}), arg({n()})},
                                [](const Inputs& in) {
                                    return std::vector{
                                        mm(in[0], in[1]),
                                        mv(in[0], in[2]),
                                        dot(in[2], in[2] * 2),
                                        outer(in[3], in[2]),
                                        addmm(ones({3}, {.dtype = in[0].dtype(), .device = in[0].device()}),
                                              in[0], in[1], 0.5, 2),
                                        addmm(in[0], in[0], matmul(in[1], transpose(in[1], 0, 1)), 0)};
                                }),
                         sample("batches", {arg({n(), 2, 4}), arg({n(), 4, 3})},
                                [](const Inputs& in) { return std::vector{bmm(in[0], in[1])}; })},
                        {{"a vector",
                          [] {
                              mm(ones({3}), ones({3, 1}));
                          },
                          ErrorKind::shape, "[3]"},
                         {"other batches",
                          [] {
                              bmm(ones({1, 2, 3}), ones({2, 3, 2}));
                          },
                          ErrorKind::shape, "equally many"},
                         {"matrices",
                          [] {
                              dot(ones({2, 2}), ones({2}));
                          },
                          ErrorKind::shape, "a vector"}}));
    rows.push_back(made("diagonal",
                        {sample("of matrices", {arg({n(), 4, 3})},
                                [](const Inputs& in) {
                                    return std::vector{diagonal(in[0], 0, 1, 2), diagonal(in[0], 1, -2, -1),
                                                       diagonal(in[0], -2, 1, 2), diagonal(in[0], 5, 1, 2)};
                                }),
                         sample("of unknown size", {arg({n(), n()})},
                                [](const Inputs& in) {
                                    return std::vector{diagonal(in[0]), trace(in[0])};
                                })},
                        {{"one dimension twice",
                          [] {
                              diagonal(ones({2, 2}), 0, 1, -1);
                          },
                          ErrorKind::argument, "are one"}}));
    rows.push_back(
        made("einsum",
             {sample("products, sums and diagonals", {arg({n(), 2, 3}), arg({n(), 3, 4}), arg({2, 4})},
                     [](const Inputs& in) {
                         return std::vector{einsum("bij,bjk->bik", {in[0], in[1]}),
                                            einsum("bij,bjk", {in[0], in[1]}),
                                            einsum("bij->jb", {in[0]}),
                                            einsum("bij,bjk,ik->b", {in[0], in[1], in[2]}),
                                            einsum("ik,jl->ijkl", {in[2], in[2]}),
                                            einsum("bij,bij->", {in[0], in[0]})};
                     }),
              sample("the trace", {arg({n(), n()}), arg({n()})},
                     [](const Inputs& in) {
                         return std::vector{einsum("ii->i", {in[0]}), einsum("ii", {in[0]}),
                                            einsum("i,ij,j", {in[1], in[0], in[1]})};
                     })},
             {{"operands missing",
               [] {
                   einsum("ij,jk", {ones({2, 2})});
               },
               ErrorKind::argument, "(2) operands"},
              {"another rank", [] { einsum("ij->i", {ones({2})}); }, ErrorKind::shape, "[2]"},
              {"sizes that differ",
               [] {
                   einsum("ij,jk->ik", {ones({2, 3}), ones({2, 2})});
               },
               ErrorKind::shape, "(j)"},
              {"a letter in the result only",
               [] {
                   einsum("ij->k", {ones({2, 2})});
               },
               ErrorKind::argument, "(k)"}}));
}

} // namespace

void add_indexing(std::vector<OpInfo>& rows)
{
    add_by_index(rows);
    add_orders(rows);
    add_products_by_name(rows);
}

} // namespace reprise::test
