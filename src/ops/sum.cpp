// sum, and the functions composed of it: mean, sum_to.
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/accumulated.hpp"
#include "ops/autocast.hpp"
#include "ops/reduce.hpp"
#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

TensorTypes infer(const Op& op, const InputTypes& in, const Attributes& a)
{
    require_arithmetic(op.name, in[0].dtype);
    return {{total_dtype(in[0].dtype), reduced_shape(op, in[0], a)}};
}

std::vector<Tensor> vjp(const VjpArguments& a)
{
    const Shape& sizes = a.node.inputs[0].type().shape;
    return {expand(reshape(a.cotangents[0], kept_shape(sizes, a.node.attributes)), sizes)};
}

// Integers wrap around.
void reference(const ReferenceArguments& a)
{
    const double none = a.inputs[0].count() == 0 ? 0.0 : -0.0; // the sum of one element has the same bits
    reference_reduction(a, std::uint64_t{0}, none, [](auto sum, auto v) { return sum + v; });
}

} // namespace

const Op sum_op{.name = "sum",
                .infer = infer,
                .vjp = vjp,
                .lower = lower_reduction,
                .reference = reference,
                .doubles = true};

} // namespace ops

Tensor sum(const Tensor& x, const Dims& dims, bool keepdim)
{
    if (const ops::Autocast to = ops::Autocast::f32({&x}); to) return sum(to(x), dims, keepdim);
    return graph::apply1(ops::sum_op, {ops::widened_to_i32(x)},
                         ops::reduction_attributes("sum", x, dims, keepdim));
}

Tensor mean(const Tensor& x, const Dims& dims, bool keepdim)
{
    ops::require_floating("mean", x.dtype());
    const graph::Attributes a = ops::reduction_attributes("mean", x, dims, keepdim);
    const Tensor total = graph::apply1(ops::sum_op, {ops::accumulated(x)}, a);
    return cast(total / ops::size_like(total, ops::reduced_count(x.shape(), a.integers("dims"))), x.dtype());
}

Tensor sum(const Tensor& x, const Dims& dims, bool keepdim, DType dtype)
{
    return cast(sum(cast(x, dtype), dims, keepdim), dtype);
}
Tensor sum(const Tensor& x, DType dtype) { return sum(x, {}, false, dtype); }
Tensor mean(const Tensor& x, const Dims& dims, bool keepdim, DType dtype)
{
    return mean(cast(x, dtype), dims, keepdim);
}
Tensor mean(const Tensor& x, DType dtype) { return mean(x, {}, false, dtype); }

Tensor sum_to(const Tensor& x, const Shape& shape)
{
    const graph::NoAutocast in_its_dtype;
    const Shape& from = x.shape();
    if (same(from, shape)) return x;
    shape::require_broadcastable("sum_to", shape, from);
    Dims dims;
    for (const std::size_t d : shape::broadcast_dims(shape, from))
        dims.push_back(static_cast<std::int64_t>(d));
    return reshape(dims.empty() ? x : sum(x, dims), shape);
}

} // namespace reprise
