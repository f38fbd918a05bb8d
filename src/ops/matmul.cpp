// matmul: matrix products with broadcast batch dimensions; linear() is built on it.
// A product of f16 or bf16 takes a bias, which it adds to the sums before they are rounded, as PyTorch does.
#include <utility>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/accumulated.hpp"
#include "ops/autocast.hpp"
#include "ops/matmul.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

// The factors have the same rank, at least 2, and equal batch dimensions: [..., m, k] x [..., k, n].  A third input is
// the bias [n] of a product of two matrices.
TensorTypes infer(const Op& op, const InputTypes& in, const Attributes&)
{
    require_floating(op.name, in[0].dtype);
    if (in[0].dtype != in[1].dtype)
        detail::fail(ErrorKind::dtype, op.name, "The inputs' dtypes (", name_of(in[0].dtype), " and ",
                     name_of(in[1].dtype), ") differ: cast one of them.");
    if (in.size() == 3 && (in[0].shape.size() != 2 || in[2].dtype != in[0].dtype ||
                           !same(in[2].shape, Shape{in[1].shape.back()})))
        detail::fail(ErrorKind::internal, op.name, "The bias does not fit the factors.");
    return {{in[0].dtype, shape::matmul(op.name, in[0].shape, in[1].shape)}};
}

bool is_transposed(const graph::Value& v)
{
    if (v.node->op != &permute_op) return false;
    const auto& dims = v.node->attributes.integers("dims");
    const auto last = static_cast<std::int64_t>(dims.size()) - 1;
    return last > 0 && dims.back() == last - 1 && dims[dims.size() - 2] == last;
}

// Returns x y, the gradient of `operand`.  If the operand is a transposed matrix, the gradient is computed as
// (y^T x^T)^T, so that its memory order is that of the matrix before it was transposed.
Tensor product_for(const graph::Value& operand, const Tensor& x, const Tensor& y)
{
    if (!is_transposed(operand)) return graph::apply1(matmul_op, {x, y});
    return graph::apply1(matmul_op, {y.mT(), x.mT()}).mT();
}

std::vector<Tensor> vjp(const VjpArguments& a)
{
    const auto& operands = a.node.inputs;
    const Tensor& dy = a.cotangents[0];
    std::vector<Tensor> d(operands.size());
    // The gradient of the second input, usually a weight, comes first: afterwards nothing reads the first input, and
    // its gradient, which has the same size, can take its memory.
    if (a.wanted[1]) d[1] = product_for(operands[1], a.inputs[0].mT(), dy);
    if (a.wanted[0]) d[0] = product_for(operands[0], dy, a.inputs[1].mT());
    if (d.size() == 3 && a.wanted[2]) d[2] = sum(dy, {0});
    return d;
}

// Multiplies, adds the bias and rounds by kernels of their own, which the fuser joins; a product by a library takes no
// part.
void lower_sums(Lowering& l, const View& bias, const View& c)
{
    const Shape& sizes = c.sizes();
    const View sums = l.temporary(f32, sizes);
    lower_product(l, l.input(0), l.input(1), sums);
    const auto repeat = [&](View v) {
        v.layout.sizes = sizes;
        v.layout.strides = {0, 1};
        return v;
    };
    // With a fuser the cast of the repeated row is part of the sum, else that of the row takes less memory.
    const View row = l.fuses() ? as_f32(l, repeat(bias)) : repeat(as_f32(l, bias));
    const View total = c.dtype == f32 ? c : l.temporary(f32, sizes);
    l.elementwise(row_op("add"), {sums, row}, total);
    if (c.dtype != f32) l.copy(total, c);
}

void lower(Lowering& l, const Node& n)
{
    const View c = l.output();
    if (n.inputs.size() == 2) return lower_product(l, l.input(0), l.input(1), c);
    const View bias = l.contiguous(l.input(2));
    if (c.dtype == f32 || !l.products_write(c)) return lower_sums(l, bias, c);
    lower_product(l, l.input(0), l.input(1), c, bias);
}

void reference(const ReferenceArguments& a)
{
    multiply(a.inputs[0], a.inputs[1], a.outputs[0], a.inputs.size() == 3 ? &a.inputs[2] : nullptr);
}

// -- matmul_heads: [..., h, m, k] x [..., h, k, n] -> [..., m, h, n]: a row has the outputs of all heads --
template <class Layout> void swap_outer(Layout& l) // views [..., m, h, n] as [..., h, m, n]
{
    const std::size_t rank = l.sizes.size();
    std::swap(l.sizes[rank - 3], l.sizes[rank - 2]);
    std::swap(l.strides[rank - 3], l.strides[rank - 2]);
}

TensorTypes infer_heads(const Op& op, const InputTypes& in, const Attributes& a)
{
    TensorTypes out = infer(op, in, a);
    const std::size_t rank = out[0].shape.size();
    std::swap(out[0].shape[rank - 3], out[0].shape[rank - 2]);
    return out;
}

// Returns the product [..., h, m, n], which is ordered as [..., m, h, n] in memory.
Tensor matmul_rows_outside(const Tensor& a, const Tensor& b)
{
    return transpose(graph::apply1(matmul_heads_op, {a, b}), -3, -2);
}

std::vector<Tensor> vjp_heads(const VjpArguments& a)
{
    const Tensor dy = transpose(a.cotangents[0], -3, -2);
    std::vector<Tensor> d(2);
    if (a.wanted[0]) d[0] = matmul_rows_outside(dy, a.inputs[1].mT());
    if (a.wanted[1]) d[1] = matmul_rows_outside(a.inputs[0].mT(), dy);
    return d;
}

void lower_heads(Lowering& l, const Node&)
{
    View to = l.output();
    swap_outer(to.layout);
    lower_product(l, l.input(0), l.input(1), to);
}

void reference_heads(const ReferenceArguments& a)
{
    HostTensor to = a.outputs[0];
    swap_outer(to);
    multiply(a.inputs[0], a.inputs[1], to);
}

} // namespace

const Op matmul_op{.name = "matmul",
                   .infer = infer,
                   .vjp = vjp,
                   .lower = lower,
                   .reference = reference,
                   .half_products = true,
                   .doubles = true,
                   .cost = graph::Cost::compute};

const Op matmul_heads_op{.name = "matmul_heads",
                         .infer = infer_heads,
                         .vjp = vjp_heads,
                         .lower = lower_heads,
                         .reference = reference_heads,
                         .half_products = true,
                         .doubles = true,
                         .cost = graph::Cost::compute};

// Merges the batch dimensions to two, since the outputs of attention heads lie inside of rows.  Copies operands whose
// strides do not allow even that.
void lower_product(Lowering& l, View a, View b, const View& c, const std::optional<View>& bias)
{
    const std::size_t leading = c.sizes().size() - 2;
    const auto batches = [&] {
        std::vector<shape::Strides> strides;
        for (const View* v : {&std::as_const(a), &std::as_const(b), &c})
            strides.emplace_back(v->layout.strides.begin(), v->layout.strides.end() - 2);
        return shape::collapse({c.sizes().begin(), c.sizes().end() - 2}, strides);
    };
    shape::Collapsed batch = batches();
    for (View* v : {&a, &b}) {
        if (batch.sizes.size() <= 2) break;
        *v = l.contiguous(*v);
        batch = batches();
    }
    batch.sizes.resize(2, Dim(1));
    const auto matrices = [&](View v, std::size_t k) {
        batch.strides[k].resize(2, Dim(0));
        const auto at = static_cast<std::ptrdiff_t>(leading);
        Shape sizes(v.sizes().begin() + at, v.sizes().end());
        shape::Strides strides(v.layout.strides.begin() + at, v.layout.strides.end());
        sizes.insert(sizes.begin(), batch.sizes.begin(), batch.sizes.end());
        strides.insert(strides.begin(), batch.strides[k].begin(), batch.strides[k].end());
        v.layout.sizes = std::move(sizes);
        v.layout.strides = std::move(strides);
        return v;
    };
    l.gemm({.a = matrices(a, 0), .b = matrices(b, 1), .c = matrices(c, 2), .bias = bias});
}

void multiply(const HostTensor& a, const HostTensor& b, const HostTensor& c, const HostTensor* bias)
{
    const std::size_t rank = c.sizes.size();
    const std::int64_t k_count = b.sizes[rank - 2], rows = c.sizes[rank - 2], columns = c.sizes[rank - 1];
    const std::int64_t matrices = c.count() == 0 ? 0 : c.count() / (rows * columns);
    for (std::int64_t batch = 0; batch < matrices; ++batch) {
        std::int64_t rest = batch, at_a = 0, at_b = 0;
        for (std::size_t d = rank - 2; d-- > 0;) {
            at_a += rest % c.sizes[d] * a.strides[d];
            at_b += rest % c.sizes[d] * b.strides[d];
            rest /= c.sizes[d];
        }
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j) {
                double sum = bias ? bias->at(j) : 0;
                for (std::int64_t k = 0; k < k_count; ++k)
                    sum += a.get(at_a + i * a.strides[rank - 2] + k * a.strides[rank - 1]) *
                           b.get(at_b + k * b.strides[rank - 2] + j * b.strides[rank - 1]);
                c.put((batch * rows + i) * columns + j, sum);
            }
    }
}

} // namespace ops

Tensor matmul(const Tensor& a, const Tensor& b)
{
    if (const ops::Autocast to = ops::Autocast::low({&a, &b}); to) return matmul(to(a), to(b));
    const Shape &sa = graph::type_of(a).shape, &sb = graph::type_of(b).shape;
    if (sa.size() == 2 && sb.size() == 2) return graph::apply1(ops::matmul_op, {a, b});
    const Shape out = shape::matmul("matmul", sa, sb); // throws if the shapes do not fit
    Tensor x = sa.size() == 1 ? unsqueeze(a, 0) : a, y = sb.size() == 1 ? unsqueeze(b, 1) : b;
    if (sb.size() <= 2 && sa.size() > 2) {
        // The whole batch is multiplied by one matrix: its rows are merged into one tall matrix.
        const Tensor tall = flatten(x, 0, -2);
        return reshape(graph::apply1(ops::matmul_op, {tall, y}), out);
    }
    const Shape wide = shape::matmul("matmul", x.shape(), y.shape()), batch(wide.begin(), wide.end() - 2);
    const auto widened = [&](const Tensor& t) {
        Shape s = batch;
        const Shape matrix = t.shape();
        s.insert(s.end(), matrix.end() - 2, matrix.end());
        return ops::expand_for("matmul", t, s);
    };
    return reshape(graph::apply1(ops::matmul_op, {widened(x), widened(y)}), out);
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias)
{
    if (const ops::Autocast to = ops::Autocast::low({&x, &weight, &bias}); to)
        return linear(to(x), to(weight), to(bias));
    const graph::TensorType &of_x = graph::type_of(x), &of_weight = graph::type_of(weight);
    if (of_weight.shape.size() != 2)
        detail::fail(ErrorKind::shape, "linear", "The weight's shape (", to_string(weight.shape()),
                     ") must be [out, in].");
    const Shape &sizes = of_x.shape, &matrix = of_weight.shape;
    const auto sentence = [&] {
        return "The input's shape (" + to_string(sizes) + ") does not end in the size that the weight (" +
               to_string(matrix) + ") takes.";
    };
    if (sizes.empty()) detail::fail(ErrorKind::shape, "linear", sentence());
    shape::require_equal("linear", sizes.back(), matrix[1], sentence);
    if (of_x.dtype != of_weight.dtype || (bias.defined() && bias.dtype() != of_x.dtype))
        detail::fail(ErrorKind::dtype, "linear", "The dtypes of input (", name_of(of_x.dtype), "), weight (",
                     name_of(of_weight.dtype), ") and bias (",
                     bias.defined() ? name_of(bias.dtype()) : "none", ") differ: cast them to one.");
    if (bias.defined()) {
        Shape out = sizes;
        out.back() = matrix[0];
        shape::require_broadcastable("linear", bias.shape(), out);
    }
    const Tensor columns = transpose(weight, 0, 1);
    if (!bias.defined() || ops::accumulated(of_x.dtype) == of_x.dtype || bias.dim() != 1) {
        const Tensor y = matmul(x, columns);
        return bias.defined() ? y + bias : y;
    }
    Shape out = sizes;
    out.back() = matrix[0];
    const Tensor rows = sizes.size() == 1 ? unsqueeze(x, 0) : flatten(x, 0, -2),
                 repeated = ops::expand_for("linear", bias, {matrix[0]});
    return reshape(graph::apply1(ops::matmul_op, {rows, columns, repeated}), out);
}

} // namespace reprise
