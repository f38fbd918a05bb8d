// Functions and methods with PyTorch's names that are made of other ops.
#include "testing/op_info/tools.hpp"

namespace reprise::test {

namespace {

OpInfo named_row(std::string name, std::vector<Sample> samples, std::vector<Mistake> mistakes = {})
{
    return {.name = std::move(name),
            .is_op = false,
            .samples = std::move(samples),
            .mistakes = std::move(mistakes)};
}

Tensor places(const Tensor& x) { return x > 0.1; }

void add_masks_and_windows(std::vector<OpInfo>& rows)
{
    rows.push_back(named_row(
        "masked_scatter",
        {{.what = "of a matrix",
          .arguments = {arg({n(), 3}), arg({n(), 3}), arg({n(), 3})},
          .call =
              [](const Inputs& in) {
                  return std::vector{masked_scatter(in[0], places(in[2].detach()), in[1])};
              },
          .sizes = {1, 3, 8}}},
        {{"another dtype", [] { masked_scatter(ones({2}), ones({2}, boolean), arange(2)); }, ErrorKind::dtype,
          "i32"},
         {"no mask", [] { masked_scatter(ones({2}), ones({2}), ones({2})); }, ErrorKind::dtype, "bool"}}));
    rows.push_back(
        named_row("masked_fill_tensor",
                  {{.what = "of a matrix",
                    .arguments = {arg({n(), 3}), truth({n(), 3}), arg({})},
                    .call = [](const Inputs& in) { return std::vector{masked_fill(in[0], in[1], in[2])}; }}},
                  {{"a vector", [] { masked_fill(ones({2}), ones({2}, boolean), ones({2})); },
                    ErrorKind::shape, "[2]"}}));
    rows.push_back(
        named_row("unfold_along",
                  {{.what = "windows that overlap",
                    .arguments = {arg({n(), 5})},
                    .call = [](const Inputs& in) { return std::vector{in[0].unfold(1, 3, 1)}; }},
                   {.what = "of unknown size",
                    .arguments = {arg({n(), 2})},
                    .call = [](const Inputs& in) { return std::vector{in[0].unfold(0, 2, 2) * 2}; },
                    .sizes = {2, 3, 8}}},
                  {{"a window that is too large", [] { ones({2}).unfold(0, 3, 1); }, ErrorKind::shape, "(3)"},
                   {"no step", [] { ones({2}).unfold(0, 1, 0); }, ErrorKind::argument, "(0)"}}));
    rows.push_back(named_row("diagonal_of_zeros",
                             {{.what = "fill_diagonal_",
                               .arguments = {arg({n(), 3})},
                               .call =
                                   [](const Inputs& in) {
                                       Tensor x = in[0] * 1.0, y = in[0] * 2.0;
                                       return std::vector{x.fill_diagonal_(2), y.fill_diagonal_(3, true)};
                                   },
                               .sizes = {1, 3, 8}}}));
}

void add_orders_by_other_names(std::vector<OpInfo>& rows)
{
    rows.push_back(
        named_row("mode",
                  {{.what = "numbers that repeat",
                    .arguments = {whole({n(), 7}, 0, 2)},
                    .call =
                        [](const Inputs& in) {
                            const auto [values, indices] = mode(in[0], 1);
                            return std::vector{values, indices};
                        },
                    .differentiable = false},
                   {.what = "of unknown size",
                    .arguments = {arg({n(), 2})},
                    .call = [](const Inputs& in) { return std::vector{mode(in[0], 0, true).first}; },
                    .sizes = {1, 3, 8}}},
                  {{"nothing",
                    [] {
                        mode(ones({2, 0}));
                    },
                    ErrorKind::shape, "[2, 0]"}}));
    rows.push_back(
        named_row("isin", {{.what = "both ways",
                            .arguments = {whole({n(), 2}, 0, 5), whole({3}, 0, 5)},
                            .call =
                                [](const Inputs& in) {
                                    return std::vector{isin(in[0], in[1]), isin(in[0], in[1], false, true)};
                                },
                            .differentiable = false}}));
    rows.back().differentiable = false;
}

void add_numbers(std::vector<OpInfo>& rows)
{
    rows.push_back(
        named_row("integers_with_numbers",
                  {{.what = "operators",
                    .arguments = {whole({n(), 3}, -9, 9)},
                    .call =
                        [](const Inputs& in) {
                            const Tensor& x = in[0];
                            return std::vector{
                                x & 5, x | 8, x ^ 3, x << 2, x >> 1, div(x, 2, "floor"), div(x, 2, "trunc")};
                        },
                    .differentiable = false}}));
    rows.back().differentiable = false;
    rows.push_back(named_row(
        "linalg_norms",
        {{.what = "of matrices",
          .arguments = {arg({n(), 3, 2}, 0.2, 1)},
          .call =
              [](const Inputs& in) {
                  const double inf = std::numeric_limits<double>::infinity();
                  return std::vector{linalg::matrix_norm(in[0]), linalg::matrix_norm(in[0], 1),
                                     linalg::matrix_norm(in[0], -inf, {1, 2}, true),
                                     linalg::vector_norm(in[0], 3, {0}), linalg::norm(in[0], inf, {-1})};
              },
          .sizes = {1, 3, 8}}},
        {{"singular values",
          [] {
              linalg::norm(ones({2, 2}), 2);
          },
          ErrorKind::unsupported, "(2)"},
         {"another order",
          [] {
              linalg::matrix_norm(ones({2, 2}), 3);
          },
          ErrorKind::argument, "(3)"},
         {"a vector", [] { linalg::matrix_norm(ones({2})); }, ErrorKind::shape, "[2]"}}));
    rows.push_back(named_row("converted_first",
                             {{.what = "integers as f32",
                               .arguments = {whole({n(), 3}, -4, 4)},
                               .call =
                                   [](const Inputs& in) {
                                       const Tensor& x = in[0];
                                       return std::vector{sum(x, {1}, true, f32),   mean(x, {1}, false, f32),
                                                          prod(x, {0}, false, f32), softmax(x, 1, f32),
                                                          log_softmax(x, 1, f32),   cumsum(x, 0, f32),
                                                          cumprod(x, 1, i16)};
                                   },
                               .sizes = {1, 3, 8},
                               .differentiable = false}}));
    rows.back().differentiable = false;
    rows.push_back(named_row("rsub", {{.what = "of a tensor and a number",
                                       .arguments = {arg({n(), 3}), arg({n(), 1})},
                                       .call = [](const Inputs& in) {
                                           return std::vector{rsub(in[0], in[1], 2), rsub(in[0], 1.5, 0.5)};
                                       }}}));
}

} // namespace

void add_named(std::vector<OpInfo>& rows)
{
    add_masks_and_windows(rows);
    add_orders_by_other_names(rows);
    add_numbers(rows);
}

} // namespace reprise::test
