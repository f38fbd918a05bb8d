// flip: reverses the order of elements along some dimensions. It is its own transpose, and so its own gradient.
#include <algorithm>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/records.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

TensorTypes infer(const Op&, const InputTypes& in, const Attributes&) { return {in[0]}; }

std::vector<Tensor> vjp(const VjpArguments& a)
{
    return {flip(a.cotangents[0], {a.node.attributes.integer("dim")})};
}

void lower(Lowering& l, const Node& n)
{
    const View x = l.contiguous(l.input(0)), y = l.output();
    const auto dim = static_cast<std::size_t>(n.attributes.integer("dim"));
    const auto [outer, inner] = AroundDim(y.sizes(), dim);
    const records::flip record{.x = x, .y = y, .outer = outer, .along = y.sizes()[dim], .inner = inner};
    l.launch(record.launch({.groups = ceil_div(outer * y.sizes()[dim] * inner, 64), .moves = true}));
}

void reference(const ReferenceArguments& a)
{
    for_each_row(a, [](std::span<const HostTensor> in, std::span<const HostTensor> out) {
        for (std::int64_t e = 0, count = out[0].count(); e < count; ++e)
            out[0].copy(out[0].offset(e), in[0], in[0].offset(count - 1 - e));
    });
}

} // namespace

const Op flip_op{
    .name = "flip", .infer = infer, .vjp = vjp, .lower = lower, .reference = reference, .doubles = true};

} // namespace ops

Tensor flip(const Tensor& x, const Dims& dims)
{
    Tensor y = x;
    const std::size_t rank = x.shape().size();
    const std::vector<std::size_t> normal =
        shape::normalize_dims("flip", dims, std::max<std::size_t>(rank, 1));
    for (const std::size_t d : normal)
        if (rank > 0) y = graph::apply1(ops::flip_op, {y}, {{"dim", static_cast<std::int64_t>(d)}});
    return ops::copy_if_aliased(y, x);
}

} // namespace reprise
