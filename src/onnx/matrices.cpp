// Products of matrices.
#include "onnx/call.hpp"

namespace reprise::onnx {

namespace {

// Products of integers are sums in i64, as matmul() is for floating types.
Tensor product(const Tensor& a, const Tensor& b)
{
    if (is_floating(a.dtype())) return matmul(a, b);
    const Tensor wide = sum(mul(unsqueeze(a.to(i64), -1), unsqueeze(b.to(i64), -3)), {-2});
    return wide.to(a.dtype());
}

Value mat_mul(Call& call)
{
    const Tensor a = call[0], b = call[1];
    if (is_floating(a.dtype()) || (a.dim() > 1 && b.dim() > 1)) return product(a, b);
    const Tensor left = a.dim() == 1 ? unsqueeze(a, 0) : a, right = b.dim() == 1 ? unsqueeze(b, 1) : b;
    Tensor y = product(left, right);
    if (b.dim() == 1) y = squeeze(y, -1);
    if (a.dim() == 1) y = squeeze(y, b.dim() == 1 ? -1 : -2);
    return y;
}

// alpha a b + beta c, with transposes.
Value gemm(Call& call)
{
    Tensor a = call[0], b = call[1];
    if (a.dim() != 2 || b.dim() != 2)
        call.fail("The shapes ", to_string(a.shape()), " and ", to_string(b.shape()),
                  " are not those of matrices.");
    if (call.flag("transA")) a = transpose(a, 0, 1);
    const double alpha = call.real("alpha", 1), beta = call.real("beta", 1);
    const Tensor c = call.tensor_or_none(2);
    if (call.flag("transB") && alpha == 1 && beta == 1 && c.defined() && c.dim() == 1 &&
        is_floating(a.dtype()) && same(c.size(0), b.size(0)))
        return linear(a, b, c);
    if (call.flag("transB")) b = transpose(b, 0, 1);
    Tensor y = product(a, b);
    if (alpha != 1) y = mul(y, alpha);
    if (c.defined()) y = add(y, beta == 1 ? c : mul(c, beta));
    return y;
}

Value einsum_of(Call& call)
{
    std::string equation;
    for (const char c : call.text("equation"))
        if (c != ' ') equation += c;
    return einsum(equation, call.tensors());
}

// The determinant by elimination with the largest pivot of each column, [..., n, n] -> [...].
Value determinant(Call& call)
{
    Tensor m = call[0];
    if (m.dim() < 2 || !same(m.size(-1), m.size(-2)) || !m.size(-1).is_constant())
        call.fail("The shape ", to_string(m.shape()), " is not that of square matrices of a constant size.");
    const std::int64_t n = m.size(-1).value();
    Shape batch = m.shape();
    batch.resize(batch.size() - 2);
    Tensor result = ones(batch, {.dtype = m.dtype(), .device = call.device});
    for (std::int64_t k = 0; k < n; ++k) {
        const std::int64_t rest = n - k;
        const Tensor column = select(m, -1, 0);          // [..., rest]
        const Tensor at = argmax(abs(column), -1, true); // [..., 1]
        const Tensor rows = arange(rest, {.dtype = i32, .device = call.device});
        const Tensor is_pivot = unsqueeze(eq(at, rows), -1);                         // [..., rest, 1]
        const Tensor pivot_row = sum(where(is_pivot, m, zeros_like(m)), {-2}, true); // [..., 1, rest]
        const Tensor pivot = narrow(pivot_row, -1, 0, 1);
        const Tensor sign = where(gt(squeeze(at, -1), 0), -1.0, 1.0).to(m.dtype());
        result = mul(mul(result, squeeze(pivot, {-2, -1})), sign);
        if (rest == 1) break;
        // The first row moves to where the pivot was.
        const Tensor swapped = where(is_pivot, narrow(m, -2, 0, 1), m);
        const Tensor below = narrow(swapped, -2, 1, rest - 1);
        const Tensor safe = where(eq(pivot, 0), ones_like(pivot), pivot);
        const Tensor factor = div(narrow(below, -1, 0, 1), safe);
        m = narrow(sub(below, mul(factor, pivot_row)), -1, 1, rest - 1);
    }
    return result;
}

const Operator rows[] = {
    {"Det", determinant, {.limits = "the size of the matrices must be constant"}},
    {"Einsum", einsum_of},
    {"Gemm", gemm, {.since = 7}},
    {"MatMul", mat_mul},
};

} // namespace

Operators matrix_operators() { return rows; }

} // namespace reprise::onnx
