// prod: the product over some dimensions.
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/reduce.hpp"
#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

using graph::Attributes;
using graph::Op;
using graph::TensorType;
using graph::VjpArguments;

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> in, const Attributes& a)
{
    require_arithmetic(op.name, in[0].dtype);
    return {{in[0].dtype, reduced_shape(op, in[0], a)}};
}

// The product of the others: y / x, or where one factor alone is 0, for that one the product of the rest.  (The
// gradient of this is right where no factor is 0.)
std::vector<Tensor> vjp(const VjpArguments& a)
{
    const Tensor& x = a.inputs[0];
    const std::vector<std::int64_t>& dims = a.node.attributes.integers("dims");
    const Shape kept = kept_shape(x.shape(), a.node.attributes);
    const Tensor is_zero = x == 0.0, none = number_like(x, 0);
    const Tensor zeros = sum(is_zero, dims, true);
    const Tensor rest = where(is_zero, number_like(x, 1), x);
    const Tensor of_rest = prod(rest, dims, true);
    const Tensor others = where(logical_and(is_zero, zeros == 1.0), expand(of_rest, x.shape()),
                                where(zeros == 0.0, of_rest / rest, none));
    return {reshape(a.cotangents[0], kept) * others};
}

void reference(const ReferenceArguments& a)
{
    const HostTensor &x = a.inputs[0], &y = a.outputs[0];
    const auto& dims = a.attributes.integers("dims");
    const auto outputs = static_cast<std::size_t>(y.count());
    if (is_integer(x.dtype)) { // wraps
        std::vector<std::uint64_t> products(outputs, 1);
        for_each_reduced(x, dims, [&](std::int64_t o, std::int64_t at) {
            products[static_cast<std::size_t>(o)] *= static_cast<std::uint64_t>(x.get_whole(at));
        });
        for (std::size_t o = 0; o < outputs; ++o)
            y.set_whole(y.offset(static_cast<std::int64_t>(o)), static_cast<std::int64_t>(products[o]));
        return;
    }
    std::vector<double> products(outputs, 1);
    for_each_reduced(x, dims, [&](std::int64_t o, std::int64_t at) {
        products[static_cast<std::size_t>(o)] *= x.get(at);
    });
    for (std::size_t o = 0; o < outputs; ++o) y.put(static_cast<std::int64_t>(o), products[o]);
}

} // namespace

const Op prod_op{
    .name = "prod", .infer = infer, .vjp = vjp, .lower = lower_reduction, .reference = reference};

} // namespace ops

Tensor prod(const Tensor& x, const Dims& dims, bool keepdim)
{
    return graph::apply1(ops::prod_op, {ops::widened_to_i32(x)},
                         ops::reduction_attributes("prod", x, dims, keepdim));
}

} // namespace reprise
