// Products of matrices.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

std::vector<Sample> matmul_samples()
{
    const auto call = [](const Inputs& in) { return std::vector{matmul(in[0], in[1])}; };
    const auto sample = [&](const char* what, Shape a, Shape b, std::vector<std::int64_t> sizes) {
        return Sample{.what = what,
                      .arguments = {arg(std::move(a)), arg(std::move(b))},
                      .call = call,
                      .sizes = std::move(sizes)};
    };
    return {
        sample("rows", {n(), 5}, {5, 7}, {0, 1, 3, 40}),
        sample("rows of whole texels", {n(), 16}, {16, 32}, {1, 17, 64}),
        sample("the inner dimension", {4, n()}, {n(), 8}, {0, 1, 13, 300}),
        sample("columns", {6, 12}, {12, n()}, {0, 1, 33}),
        sample("a batch and one matrix", {2, n(), 4}, {4, 6}, {0, 1, 5}),
        sample("two batches", {n(), 3, 4}, {n(), 4, 5}, {0, 1, 3}),
        sample("batches that broadcast", {2, 1, n(), 4}, {3, 4, 5}, {1, 4}),
        sample("an unknown batch that broadcasts", {n(), 1, 3, 4}, {2, 4, 5}, {0, 1, 4}),
        sample("vectors", {n()}, {n()}, {0, 1, 50}),
        sample("a matrix and a vector", {n(), 6}, {6}, {1, 9}),
        sample("a batch and a vector", {2, n(), 4}, {4}, {0, 1, 5}),
        {.what = "heads inside of rows",
         .arguments = {arg({2, n(), 3, 8}), arg({2, n(), 3, 8})},
         .call =
             [](const Inputs& in) {
                 const Tensor a = transpose(in[0], 1, 2), b = transpose(in[1], 1, 2);
                 return std::vector{matmul(a, transpose(b, -1, -2)), matmul(transpose(a, -1, -2), b)};
             },
         .sizes = {0, 1, 5, 16}},
        {.what = "transposed operands",
         .arguments = {arg({8, n()}), arg({12, 8})},
         .call =
             [](const Inputs& in) {
                 return std::vector{matmul(transpose(in[0], 0, 1), transpose(in[1], 0, 1))};
             },
         .sizes = {1, 4, 20}},
    };
}

} // namespace

void add_products(std::vector<OpInfo>& rows)
{
    rows.push_back({.name = "matmul",
                    .samples = matmul_samples(),
                    .mistakes = {{"inner sizes",
                                  [] {
                                      matmul(ones({2, 3}), ones({4, 5}));
                                  },
                                  ErrorKind::shape, "(3 and 4)"},
                                 {"batches",
                                  [] {
                                      matmul(ones({2, 2, 3}), ones({4, 3, 5}));
                                  },
                                  ErrorKind::shape, "([2] and [4]) do not broadcast"},
                                 {"a scalar", [] { matmul(ones({}), ones({3})); }, ErrorKind::shape, "[]"},
                                 {"integers",
                                  [] {
                                      matmul(ones({2, 2}, {.dtype = i32}), ones({2, 2}, {.dtype = i32}));
                                  },
                                  ErrorKind::dtype, "a floating dtype"},
                                 {"two dtypes",
                                  [] {
                                      matmul(ones({2, 2}), ones({2, 2}, {.dtype = f16}));
                                  },
                                  ErrorKind::dtype, "(f32 and f16)"}},
                    .tolerance = 5e-6});
    rows.push_back(
        {.name = "linear",
         .is_op = false,
         .samples = {{.what = "with a bias",
                      .arguments = {arg({n(), 6}), arg({4, 6}), arg({4})},
                      .call = [](const Inputs& in) { return std::vector{linear(in[0], in[1], in[2])}; }},
                     {.what = "three dimensions",
                      .arguments = {arg({2, n(), 6}), arg({4, 6})},
                      .call = [](const Inputs& in) { return std::vector{linear(in[0], in[1])}; }}},
         .mistakes = {{"a weight of one dimension",
                       [] {
                           linear(ones({2, 3}), ones({3}));
                       },
                       ErrorKind::shape, "[out, in]"}}});
}

} // namespace reprise::test
