// Tensors taken apart and joined, padding, masks.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

void add_split(std::vector<OpInfo>& rows)
{
    rows.push_back(
        {.name = "split",
         .samples = {{.what = "symbolic sizes",
                      .arguments = {arg({n() * 2 + 3, 4})},
                      .call =
                          [](const Inputs& in) {
                              const Dim half = floor_div(in[0].size(0) - 3, 2);
                              std::vector<Tensor> parts = split(in[0], {half, 3, half}, 0);
                              parts[2] = parts[2] * 2;
                              return parts;
                          },
                      .sizes = {0, 1, 5}},
                     {.what = "one that is not used",
                      .arguments = {arg({n(), 7})},
                      .call = [](const Inputs& in) { return std::vector{split(in[0], 3, 1)[1]}; }},
                     {.what = "of a permuted tensor",
                      .arguments = {arg({n(), 2, 3, 4})},
                      .call =
                          [](const Inputs& in) {
                              return unbind(permute(in[0], {2, 0, 1, 3}), 0);
                          }}},
         .mistakes = {{"another sum",
                       [] {
                           split(ones({6}), {2, 3}, 0);
                       },
                       ErrorKind::shape, "([2, 3]) do not add up"},
                      {"a negative size",
                       [] {
                           split(ones({6}), {7, -1}, 0);
                       },
                       ErrorKind::shape, "-1"},
                      {"parts of nothing", [] { split(ones({6}), 0, 0); }, ErrorKind::argument, "(0)"},
                      {"no such dimension", [] { split(ones({6}), 2, 1); }, ErrorKind::argument, "1"}}});
    rows.push_back({.name = "chunk",
                    .is_op = false,
                    .samples = {{.what = "a symbolic size",
                                 .arguments = {arg({2, n() * 3})},
                                 .call = [](const Inputs& in) { return chunk(in[0], 3, 1); }},
                                {.what = "a smaller last one",
                                 .arguments = {arg({7, n()})},
                                 .call = [](const Inputs& in) { return chunk(in[0], 3); }},
                                {.what = "fewer than requested",
                                 .arguments = {arg({2, n()})},
                                 .call = [](const Inputs& in) { return chunk(in[0], 5); }}},
                    .mistakes = {{"no chunks", [] { chunk(ones({6}), 0); }, ErrorKind::argument, "(0)"}}});
}

void add_cat(std::vector<OpInfo>& rows)
{
    const auto call = [](std::int64_t dim) {
        return [dim](const Inputs& in) { return std::vector{cat(in, dim)}; };
    };
    rows.push_back(
        {.name = "cat",
         .samples = {{.what = "outer",
                      .arguments = {arg({n(), 8}), arg({2, 8}), arg({n() + 1, 8})},
                      .call = call(0)},
                     {.what = "inner", .arguments = {arg({3, n()}), arg({3, 5})}, .call = call(-1)},
                     {.what = "texels",
                      .arguments = {arg({n(), 2, 4}), arg({n(), 3, 4})},
                      .call = call(1),
                      .sizes = {0, 1, 5, 40}},
                     {.what = "vectors, one empty",
                      .arguments = {arg({0}), arg({n()})},
                      .call = call(0),
                      .sizes = {0, 1, 5}},
                     {.what = "i32",
                      .arguments = {whole({n()}, -9, 9), whole({3}, -9, 9)},
                      .call = call(0),
                      .differentiable = false},
                     {.what = "bool and f16",
                      .arguments = {truth({n(), 3}), of(f16, arg({n(), 3}))},
                      .call =
                          [](const Inputs& in) {
                              return std::vector{cat({in[0], in[0]}, 1), cat({in[1], in[1], in[1]}, 0)};
                          },
                      .differentiable = false},
                     {.what = "nothing and one",
                      .arguments = {arg({n(), 3})},
                      .call =
                          [](const Inputs& in) {
                              const Tensor nothing = zeros({0}, {.dtype = in[0].dtype()});
                              return std::vector{cat({nothing, in[0]}, 1) * 2};
                          }},
                     {.what = "of two dtypes",
                      .arguments = {arg({n()}), whole({n()}, -9, 9)},
                      .call =
                          [](const Inputs& in) {
                              return std::vector{cat({in[0], in[1]}) * 2};
                          }}},
         .mistakes = {
             {"no tensors", [] { cat({}); }, ErrorKind::argument, "no tensors"},
             {"another shape", [] { cat({ones({2, 3}), ones({2, 4})}, 0); }, ErrorKind::shape,
              "([2, 3] and [2, 4])"},
             {"another rank", [] { cat({ones({2, 3}), ones({2})}, 0); }, ErrorKind::shape, "[2]"},
             {"no such dimension", [] { cat({ones({2}), ones({2})}, 1); }, ErrorKind::argument, "1"}}});
    rows.push_back({.name = "stack",
                    .is_op = false,
                    .samples = {{.what = "in the middle",
                                 .arguments = {arg({2, n()}), arg({2, n()}), arg({2, n()})},
                                 .call = [](const Inputs& in) { return std::vector{stack(in, 1)}; }},
                                {.what = "last",
                                 .arguments = {arg({n()}), arg({n()})},
                                 .call = [](const Inputs& in) { return std::vector{stack(in, -1)}; }}},
                    .mistakes = {{"no tensors", [] { stack({}); }, ErrorKind::argument, "no tensors"},
                                 {"another shape",
                                  [] {
                                      stack({ones({2}), ones({3})});
                                  },
                                  ErrorKind::shape, "([2] and [3])"}}});
}

void add_pad(std::vector<OpInfo>& rows)
{
    rows.push_back(
        {.name = "pad",
         .samples = {{.what = "two dimensions",
                      .arguments = {arg({2, n(), 3})},
                      .call =
                          [](const Inputs& in) {
                              return std::vector{pad(in[0], {1, 2, 0, 3}, 0.5)};
                          }},
                     {.what = "symbolic amounts",
                      .arguments = {arg({n(), 4})},
                      .call =
                          [](const Inputs& in) {
                              const Dim size = in[0].size(0);
                              return std::vector{pad(in[0], {0, 0, 1, size + 2}), pad(in[0], {size, 0})};
                          }},
                     {.what = "cut off",
                      .arguments = {arg({5, n() + 2})},
                      .call =
                          [](const Inputs& in) {
                              return std::vector{pad(in[0], {-1, 2, 1, -3}), pad(in[0], {-1, -1}) * 2};
                          }},
                     {.what = "i32",
                      .arguments = {whole({2, n(), 3}, -9, 9)},
                      .call =
                          [](const Inputs& in) {
                              return std::vector{pad(in[0], {1, 0}, -7)};
                          },
                      .differentiable = false},
                     {.what = "f16 and bool",
                      .arguments = {of(f16, arg({3, n()})), truth({n(), 5})},
                      .call =
                          [](const Inputs& in) {
                              return std::vector{pad(in[0], {1, 2}, 0.1), pad(in[1], {0, 2, 1, 0}, 1)};
                          },
                      .differentiable = false}},
         .mistakes = {{"an odd number", [] { pad(ones({2}), {1}); }, ErrorKind::argument, "(1) amounts"},
                      {"too many",
                       [] {
                           pad(ones({2}), {1, 1, 1, 1});
                       },
                       ErrorKind::argument, "(4) amounts for (1)"},
                      {"less than nothing",
                       [] {
                           pad(ones({2}), {-2, -1});
                       },
                       ErrorKind::shape, "less than nothing"}}});
}

void add_masks(std::vector<OpInfo>& rows)
{
    rows.push_back(
        {.name = "masked_fill",
         .is_op = false,
         .samples = {{.what = "a mask that broadcasts",
                      .arguments = {arg({2, n(), 3}), truth({n(), 3})},
                      .call = [](const Inputs& in) { return std::vector{masked_fill(in[0], in[1], -2.5)}; }}},
         .mistakes = {{"a mask of numbers", [] { masked_fill(ones({2}), ones({2}), 0); }, ErrorKind::dtype,
                       "a mask of dtype bool"}}});
    rows.push_back({.name = "tril",
                    .is_op = false,
                    .samples = {{.what = "matrices",
                                 .arguments = {arg({2, n(), 5})},
                                 .call =
                                     [](const Inputs& in) {
                                         return std::vector{tril(in[0]), tril(in[0], 1), tril(in[0], -2),
                                                            tril(in[0], std::int64_t{1} << 40)};
                                     }}},
                    .mistakes = {{"a vector", [] { tril(ones({2})); }, ErrorKind::shape, "[2]"}}});
    rows.push_back({.name = "triu",
                    .is_op = false,
                    .samples = {{.what = "matrices",
                                 .arguments = {arg({4, n()})},
                                 .call =
                                     [](const Inputs& in) {
                                         return std::vector{triu(in[0]), triu(in[0], 2), triu(in[0], -1)};
                                     }}},
                    .mistakes = {{"a vector", [] { triu(ones({2})); }, ErrorKind::shape, "[2]"}}});
    rows.push_back(
        {.name = "unbind",
         .is_op = false,
         .samples = {{.what = "the last dimension",
                      .arguments = {arg({n(), 3})},
                      .call = [](const Inputs& in) { return unbind(in[0], -1); }}},
         .mistakes = {{"no such dimension", [] { unbind(ones({2}), 1); }, ErrorKind::argument, "1"}}});
}

} // namespace

void add_parts(std::vector<OpInfo>& rows)
{
    add_split(rows);
    add_cat(rows);
    add_pad(rows);
    add_masks(rows);
}

} // namespace reprise::test
