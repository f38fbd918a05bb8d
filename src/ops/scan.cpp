// cumsum and cumprod: the sum and the product of all elements up to each one along a dimension.
#include <algorithm>
#include <string>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/accumulated.hpp"
#include "ops/linear_scan.hpp"
#include "ops/reduce.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

using graph::Attributes;
using graph::Node;
using graph::Op;
using graph::TensorTypes;
using graph::VjpArguments;

TensorTypes infer(const Op& op, const graph::InputTypes& in, const Attributes&)
{
    require_arithmetic(op.name, in[0].dtype);
    return {{total_dtype(in[0].dtype), in[0].shape}};
}

// The sum from each element to the end.
Tensor sum_from(const Tensor& x, std::int64_t dim) { return flip(cumsum(flip(x, {dim}), dim), {dim}); }

std::vector<Tensor> vjp_cumsum(const VjpArguments& a)
{
    return {sum_from(a.cotangents[0], a.node.attributes.integer("dim"))};
}

// Element i takes part in the products from i on: the sum of dy * y from i on over x, as in PyTorch, which overflows
// where the result does.  On lines where a product is 0, the product before i times a sum of products behind it, which
// is a linear recurrence: nothing is divided, so that zeros are like other numbers, in gradients of any order.  What is
// not chosen is made of ones, so that its own gradient stays finite.
std::vector<Tensor> vjp_cumprod(const VjpArguments& a)
{
    const std::int64_t dim = a.node.attributes.integer("dim");
    const Tensor &x = a.inputs[0], &y = a.outputs[0], &dy = a.cotangents[0];
    const Tensor zeros = any(logical_or(x == 0, y == 0), {dim}, true);
    const Tensor by_quotients = sum_from(dy * where(zeros, 1.0, y), dim) / where(zeros, 1.0, x);
    const Tensor by_products = before_each(where(zeros, y, 1.0), dim, 1) *
                               linear_scan_back(behind_each(where(zeros, x, 1.0), dim, 0), dy, dim);
    return {where(zeros, by_products, by_quotients)};
}

void lower(Lowering& l, const Node& n)
{
    const View x = l.contiguous(l.input(0));
    std::string name = n.op->name;
    if (x.dtype == i32) name += "_i32";
    else require_floating_kernel(n.op->name, x.dtype);
    lower_scan(l, n, name, {x});
}

void reference(const ReferenceArguments& a)
{
    const HostTensor &x = a.inputs[0], &y = a.outputs[0];
    const auto dim = static_cast<std::size_t>(a.attributes.integer("dim"));
    const bool sums = a.op == &cumsum_op, whole = is_integer(x.dtype);
    std::int64_t inner = 1;
    for (std::size_t d = dim + 1; d < y.sizes.size(); ++d) inner *= y.sizes[d];
    const std::int64_t n = y.sizes[dim], count = y.count();
    for (std::int64_t line = 0; n > 0 && line < count / n; ++line) {
        double value = sums ? 0 : 1;
        std::uint64_t bits = sums ? 0 : 1;
        for (std::int64_t e = 0; e < n; ++e) {
            const std::int64_t i = (line / inner * n + e) * inner + line % inner;
            if (whole) {
                const auto v = static_cast<std::uint64_t>(x.get_whole(x.offset(i)));
                bits = sums ? bits + v : bits * v;
                y.set_whole(y.offset(i), static_cast<std::int64_t>(bits));
            } else {
                value = sums ? value + x.at(i) : value * x.at(i);
                y.put(i, value);
            }
        }
    }
}

Tensor along(const Op& op, const Tensor& x, std::int64_t dim)
{
    const std::size_t rank = x.shape().size(),
                      d = shape::normalize_dim(op.name, dim, std::max<std::size_t>(rank, 1));
    const Tensor lines = rank == 0 ? reshape(x, {1}) : x;
    const Tensor y = graph::apply1(op, {widened_to_i32(lines)}, {{"dim", static_cast<std::int64_t>(d)}});
    return rank == 0 ? reshape(y, {}) : y;
}

} // namespace

const Op cumsum_op{.name = "cumsum",
                   .infer = infer,
                   .vjp = vjp_cumsum,
                   .lower = lower,
                   .reference = reference,
                   .doubles = true};
const Op cumprod_op{.name = "cumprod",
                    .infer = infer,
                    .vjp = vjp_cumprod,
                    .lower = lower,
                    .reference = reference,
                    .doubles = true};

} // namespace ops

Tensor cumsum(const Tensor& x, std::int64_t dim) { return ops::along(ops::cumsum_op, x, dim); }
Tensor cumprod(const Tensor& x, std::int64_t dim) { return ops::along(ops::cumprod_op, x, dim); }

} // namespace reprise
