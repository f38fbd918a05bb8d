// Functions and methods with PyTorch's names that are composed of other ops.
#include "testing/op_info/rows.hpp"

namespace reprise::test {

namespace {

Tensor positive(const Tensor& x) { return x > 0.1; }

void add_masks_and_windows(Rows& rows)
{
    rows.composed("masked_scatter");
    rows.sample("of a matrix", {arg({n(), 3}), arg({n(), 3}), arg({n(), 3})}, {1, 3, 8},
                [](const Inputs& in) { return masked_scatter(in[0], positive(in[2].detach()), in[1]); });
    rows.mistake("another dtype", ErrorKind::dtype, "i32",
                 [] { masked_scatter(ones({2}), ones({2}, boolean), arange(2)); });
    rows.mistake("no mask", ErrorKind::dtype, "bool",
                 [] { masked_scatter(ones({2}), ones({2}), ones({2})); });

    rows.composed("masked_fill_tensor");
    rows.sample("of a matrix", {arg({n(), 3}), truth({n(), 3}), arg({})},
                [](const Inputs& in) { return masked_fill(in[0], in[1], in[2]); });
    rows.mistake("a vector", ErrorKind::shape, "[2]",
                 [] { masked_fill(ones({2}), ones({2}, boolean), ones({2})); });

    rows.composed("unfold_along");
    rows.sample("windows that overlap", {arg({n(), 5})},
                [](const Inputs& in) { return in[0].unfold(1, 3, 1); });
    rows.sample("of unknown size", {arg({n(), 2})}, {2, 3, 8},
                [](const Inputs& in) { return in[0].unfold(0, 2, 2) * 2; });
    rows.mistake("a window that is too large", ErrorKind::shape, "(3)", [] { ones({2}).unfold(0, 3, 1); });
    rows.mistake("no step", ErrorKind::argument, "(0)", [] { ones({2}).unfold(0, 1, 0); });

    rows.composed("diagonal_of_zeros");
    rows.sample("fill_diagonal_", {arg({n(), 3})}, {1, 3, 8}, [](const Inputs& in) {
        Tensor x = in[0] * 1.0, y = in[0] * 2.0;
        return std::vector{x.fill_diagonal_(2), y.fill_diagonal_(3, true)};
    });
}

void add_orders_by_other_names(Rows& rows)
{
    rows.composed("mode");
    rows.forward("numbers that repeat", {whole({n(), 7}, 0, 2)}, [](const Inputs& in) {
        const auto [values, indices] = mode(in[0], 1);
        return std::vector{values, indices};
    });
    rows.sample("of unknown size", {arg({n(), 2})}, {1, 3, 8},
                [](const Inputs& in) { return mode(in[0], 0, true).first; });
    rows.mistake("nothing", ErrorKind::shape, "[2, 0]", [] { mode(ones({2, 0})); });

    rows.composed("isin").differentiable = false;
    rows.forward("both ways", {whole({n(), 2}, 0, 5), whole({3}, 0, 5)}, [](const Inputs& in) {
        return std::vector{isin(in[0], in[1]), isin(in[0], in[1], false, true)};
    });
}

void add_numbers(Rows& rows)
{
    rows.composed("integers_with_numbers").differentiable = false;
    rows.forward("operators", {whole({n(), 3}, -9, 9)}, [](const Inputs& in) {
        const Tensor& x = in[0];
        return std::vector{x & 5, x | 8, x ^ 3, x << 2, x >> 1, div(x, 2, "floor"), div(x, 2, "trunc")};
    });

    rows.composed("linalg_norms");
    rows.sample("of matrices", {arg({n(), 3, 2}, 0.2, 1)}, {1, 3, 8}, [](const Inputs& in) {
        const double inf = std::numeric_limits<double>::infinity();
        return std::vector{linalg::matrix_norm(in[0]), linalg::matrix_norm(in[0], 1),
                           linalg::matrix_norm(in[0], -inf, {1, 2}, true), linalg::vector_norm(in[0], 3, {0}),
                           linalg::norm(in[0], inf, {-1})};
    });
    rows.mistake("singular values", ErrorKind::unsupported, "(2)", [] { linalg::norm(ones({2, 2}), 2); });
    rows.mistake("another order", ErrorKind::argument, "(3)", [] { linalg::matrix_norm(ones({2, 2}), 3); });
    rows.mistake("a vector", ErrorKind::shape, "[2]", [] { linalg::matrix_norm(ones({2})); });

    rows.composed("converted_first").differentiable = false;
    rows.forward("integers as f32", {whole({n(), 3}, -4, 4)}, {1, 3, 8}, [](const Inputs& in) {
        const Tensor& x = in[0];
        return std::vector{sum(x, {1}, true, f32), mean(x, {1}, false, f32), prod(x, {0}, false, f32),
                           softmax(x, 1, f32),     log_softmax(x, 1, f32),   cumsum(x, 0, f32),
                           cumprod(x, 1, i16)};
    });

    rows.composed("rsub");
    rows.sample("of a tensor and a number", {arg({n(), 3}), arg({n(), 1})}, [](const Inputs& in) {
        return std::vector{rsub(in[0], in[1], 2), rsub(in[0], 1.5, 0.5)};
    });
}

} // namespace

void add_named(Rows& rows)
{
    add_masks_and_windows(rows);
    add_orders_by_other_names(rows);
    add_numbers(rows);
}

} // namespace reprise::test
