// matmul: products of matrices, batch dimensions broadcast; linear on top of it.
#include <numeric>

#include <reprise/ops.hpp>

#include "ops/lowering.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

using graph::Attributes;
using graph::Node;
using graph::Op;
using graph::TensorType;
using graph::VjpArguments;

// The node's inputs have one rank, at least 2, and equal batch dimensions: [..., m, k] x [..., k, n].
std::vector<TensorType> infer(const Op& op, std::span<const TensorType> in, const Attributes&)
{
    require_floating(op.name, in[0].dtype);
    if (in[0].dtype != in[1].dtype)
        detail::fail(ErrorKind::dtype, op.name, "The inputs' dtypes (", name_of(in[0].dtype), " and ",
                     name_of(in[1].dtype), ") differ: cast one of them.");
    return {{in[0].dtype, shape::matmul(op.name, in[0].shape, in[1].shape)}};
}

Tensor matrix_transposed(const Tensor& t) { return transpose(t, -1, -2); }

std::vector<Tensor> vjp(const VjpArguments& a)
{
    std::vector<Tensor> d(2);
    if (a.wanted[0]) d[0] = graph::apply1(matmul_op, {a.cotangents[0], matrix_transposed(a.inputs[1])});
    if (a.wanted[1]) d[1] = graph::apply1(matmul_op, {matrix_transposed(a.inputs[0]), a.cotangents[0]});
    return d;
}

// All batch dimensions as one: [batch, rows, columns]; a copy where strides can't say it.
View as_batched(Lowering& l, View v)
{
    const std::size_t rank = v.sizes().size();
    auto& s = v.layout;
    const auto batches = [&] {
        const auto end = static_cast<std::ptrdiff_t>(rank - 2);
        const std::vector<shape::Strides> strides = {{s.strides.begin(), s.strides.begin() + end}};
        return shape::collapse({s.sizes.begin(), s.sizes.begin() + end}, strides);
    };
    shape::Collapsed c = batches();
    if (c.sizes.size() > 1) {
        v = l.contiguous(v);
        c = batches();
    }
    const Dim batch = c.sizes.empty() ? Dim(1) : c.sizes[0],
              stride = c.sizes.empty() ? Dim(0) : c.strides[0][0];
    s.sizes = {batch, s.sizes[rank - 2], s.sizes[rank - 1]};
    s.strides = {stride, s.strides[rank - 2], s.strides[rank - 1]};
    return v;
}

void lower(Lowering& l, const Node&)
{
    l.gemm({as_batched(l, l.input(0)), as_batched(l, l.input(1)), as_batched(l, l.output())});
}

void reference(const ReferenceArguments& a)
{
    const HostTensor &x = a.inputs[0], &y = a.inputs[1], &out = a.outputs[0];
    const std::size_t rank = out.sizes.size();
    const std::int64_t k_count = x.sizes[rank - 1], rows = out.sizes[rank - 2], columns = out.sizes[rank - 1];
    const std::int64_t matrices = out.count() == 0 ? 0 : out.count() / (rows * columns);
    for (std::int64_t b = 0; b < matrices; ++b) {
        std::int64_t rest = b, ax = 0, ay = 0;
        for (std::size_t d = rank - 2; d-- > 0;) {
            ax += rest % out.sizes[d] * x.strides[d];
            ay += rest % out.sizes[d] * y.strides[d];
            rest /= out.sizes[d];
        }
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j) {
                double sum = 0;
                for (std::int64_t k = 0; k < k_count; ++k)
                    sum += x.get(ax + i * x.strides[rank - 2] + k * x.strides[rank - 1]) *
                           y.get(ay + k * y.strides[rank - 2] + j * y.strides[rank - 1]);
                out.put((b * rows + i) * columns + j, sum);
            }
    }
}

} // namespace

const Op matmul_op{.name = "matmul",
                   .infer = infer,
                   .vjp = vjp,
                   .lower = lower,
                   .reference = reference,
                   .cost = graph::Cost::compute};

} // namespace ops

Tensor matmul(const Tensor& a, const Tensor& b)
{
    const Shape sa = a.shape(), sb = b.shape();
    const Shape out = shape::matmul("matmul", sa, sb); // throws for what does not fit
    Tensor x = sa.size() == 1 ? unsqueeze(a, 0) : a, y = sb.size() == 1 ? unsqueeze(b, 1) : b;
    const Shape wide = shape::matmul("matmul", x.shape(), y.shape());
    if (y.shape().size() == 2 && x.shape().size() > 2) {
        // One matrix for the whole batch: the rows of all of it are one tall matrix.
        const Tensor tall = flatten(x, 0, -2);
        return reshape(graph::apply1(ops::matmul_op, {tall, y}), out);
    }
    const Shape batch(wide.begin(), wide.end() - 2);
    const auto widened = [&](const Tensor& t) {
        Shape s = batch;
        const Shape matrix = t.shape();
        s.insert(s.end(), matrix.end() - 2, matrix.end());
        return expand(t, s);
    };
    return reshape(graph::apply1(ops::matmul_op, {widened(x), widened(y)}), out);
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias)
{
    if (weight.dim() != 2)
        detail::fail(ErrorKind::shape, "linear", "The weight's shape (", to_string(weight.shape()),
                     ") must be [out, in].");
    const Tensor y = matmul(x, transpose(weight, 0, 1));
    return bias.defined() ? y + bias : y;
}

} // namespace reprise
