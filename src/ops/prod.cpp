// prod: the product over some dimensions.
#include <algorithm>

#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/accumulated.hpp"
#include "ops/autocast.hpp"
#include "ops/linear_scan.hpp"
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

// Computes dy * y / x as in PyTorch, which overflows where the result does.  On lines whose product is 0, multiplies
// the products of the elements before and after each one: without a division zeros need no special case, in gradients
// of any order.  The branch that is not selected is computed from ones, so that its own gradient stays finite.
std::vector<Tensor> vjp(const VjpArguments& a)
{
    const Tensor& x = a.inputs[0];
    const Shape& sizes = x.shape();
    const std::vector<std::int64_t>& dims = a.node.attributes.integers("dims");
    std::vector<std::int64_t> order; // the reduced dimensions to the end
    Shape lined, permuted;
    for (std::size_t d = 0; d < sizes.size(); ++d)
        if (std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(d)) == dims.end()) {
            order.push_back(static_cast<std::int64_t>(d));
            lined.push_back(sizes[d]);
        }
    order.insert(order.end(), dims.begin(), dims.end());
    for (const std::int64_t d : order) permuted.push_back(sizes[static_cast<std::size_t>(d)]);
    lined.push_back(reduced_count(sizes, dims));
    const Tensor lines = reshape(permute(x, order), lined);
    lined.back() = 1; // the same elements with and without keepdim
    const Tensor dy = reshape(a.cotangents[0], lined), y = reshape(a.outputs[0], lined);
    const Tensor zeros = logical_or(any(lines == 0, {-1}, true), y == 0);
    const Tensor factors = where(zeros, lines, 1.0), divisors = where(zeros, 1.0, lines);
    const Tensor before = cumprod(before_each(factors, -1, 1), -1),
                 after = flip(cumprod(flip(behind_each(factors, -1, 1), {-1}), -1), {-1});
    const Tensor dx = where(zeros, dy * (before * after), dy * y / divisors);
    return {permute(reshape(dx, permuted), inverse_order(order))};
}

// Integers wrap around.
void reference(const ReferenceArguments& a)
{
    reference_reduction(a, std::uint64_t{1}, 1, [](auto product, auto v) { return product * v; });
}

} // namespace

const Op prod_op{.name = "prod",
                 .infer = infer,
                 .vjp = vjp,
                 .lower = lower_reduction,
                 .reference = reference,
                 .doubles = true};

} // namespace ops

Tensor prod(const Tensor& x, const Dims& dims, bool keepdim)
{
    if (const ops::Autocast to = ops::Autocast::f32({&x}); to) return prod(to(x), dims, keepdim);
    return graph::apply1(ops::prod_op, {ops::widened_to_i32(x)},
                         ops::reduction_attributes("prod", x, dims, keepdim));
}

Tensor prod(const Tensor& x, const Dims& dims, bool keepdim, DType dtype)
{
    return cast(prod(cast(x, dtype), dims, keepdim), dtype);
}
Tensor prod(const Tensor& x, DType dtype) { return prod(x, {}, false, dtype); }

} // namespace reprise
