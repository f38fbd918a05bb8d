// amax and amin: the largest and the smallest element over some dimensions.
#include <cmath>
#include <limits>

#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/reduce.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"

namespace reprise {
namespace ops {
namespace {

TensorTypes infer(const Op& op, const InputTypes& in, const Attributes& a)
{
    if (in[0].dtype == boolean) wrong_dtype(op.name, in[0].dtype, "a dtype of numbers");
    return {{in[0].dtype, reduced_shape(op, in[0], a)}};
}

// Equal elements share the gradient. If the result is NaN, the NaNs share it if "nan_shares" is set, else the whole
// gradient is NaN, as in PyTorch.
std::vector<Tensor> vjp(const VjpArguments& a)
{
    const Tensor& x = a.inputs[0];
    const Shape keepdim_shape = kept_shape(x.shape(), a.node.attributes);
    const Tensor y = reshape(a.outputs[0], keepdim_shape);
    Tensor won = eq(x, y);
    if (a.node.attributes.integer("nan_shares") != 0) won = logical_or(won, logical_and(isnan(x), isnan(y)));
    const Tensor winners = cast(won, x.dtype());
    const Tensor count = sum(winners, a.node.attributes.integers("dims"), true);
    return {winners * (reshape(a.cotangents[0], keepdim_shape) / count)};
}

void reference(const ReferenceArguments& a)
{
    using Limits = std::numeric_limits<std::int64_t>;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const bool smallest = a.op == &amin_op;
    reference_reduction(a, smallest ? Limits::max() : Limits::min(), smallest ? infinity : -infinity,
                        [smallest](auto best, auto v) {
                            return (smallest ? v < best : v > best) || std::isnan(v) ? v : best; // NaN wins
                        });
}

// Requires at least one element per result: the reduction of none would return -infinity or infinity.
Tensor extremum(const Op& op, const Tensor& x, const Dims& dims, bool keepdim, bool nan_shares = false)
{
    if (x.dtype() == boolean) return cast(extremum(op, cast(x, i32), dims, keepdim), boolean);
    const Attributes a = reduction_attributes(op.name, x, dims, keepdim);
    const Shape sizes = x.shape();
    shape::require_at_least(op.name, reduced_count(sizes, a.integers("dims")), 1, [&] {
        return "The shape (" + to_string(sizes) + ") has no element to be the " +
               (&op == &amin_op ? "least" : "largest") + ": reduce over sizes of at least 1.";
    });
    return graph::apply1(op, {x}, a.with("nan_shares", std::int64_t{nan_shares}));
}

} // namespace

const Op amax_op{.name = "amax",
                 .infer = infer,
                 .vjp = vjp,
                 .lower = lower_reduction,
                 .reference = reference,
                 .doubles = true};
const Op amin_op{.name = "amin",
                 .infer = infer,
                 .vjp = vjp,
                 .lower = lower_reduction,
                 .reference = reference,
                 .doubles = true};

} // namespace ops

Tensor amax(const Tensor& x, const Dims& dims, bool keepdim)
{
    return ops::extremum(ops::amax_op, x, dims, keepdim);
}
Tensor amin(const Tensor& x, const Dims& dims, bool keepdim)
{
    return ops::extremum(ops::amin_op, x, dims, keepdim);
}

Tensor max(const Tensor& x) { return ops::extremum(ops::amax_op, x, {}, false, true); }
Tensor min(const Tensor& x) { return ops::extremum(ops::amin_op, x, {}, false, true); }

} // namespace reprise
