#include <cmath>

#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/losses.hpp>
#include <reprise/ops/reductions.hpp>

#include "ops/registry.hpp"
#include "ops/softmax.hpp"

namespace reprise {
namespace ops {
namespace {

std::vector<Tensor> vjp(const VjpArguments& a)
{
    return {
        apply_along(log_softmax_vjp_op, {a.cotangents[0], a.outputs[0]}, a.node.attributes.integer("dim"))};
}

std::vector<Tensor> decompose(const Node& n, std::span<const Tensor> in)
{
    const std::int64_t dim = n.attributes.integer("dim");
    if (same(in[0].size(dim), 0)) return {in[0]};
    const Tensor shifted = in[0] - amax(in[0], {dim}, true);
    return {shifted - log(sum(exp(shifted), {dim}, true))};
}

void lower(Lowering& l, const Node& n)
{
    lower_rows(l, n, [](LongRows& rows, const std::vector<View>& in, const View& y) {
        const View shifted = rows.across("sub", {in[0], rows.reduced("amax", in[0])});
        const View total = rows.reduced("sum", rows.across("exp", {shifted}));
        rows.write(y, "sub", {shifted, rows.each("log", {total})});
    });
}

void reference(const ReferenceArguments& a)
{
    const HostTensor &x = a.inputs[0], &y = a.outputs[0];
    const auto dim = static_cast<std::size_t>(a.attributes.integer("dim"));
    const HostRows rows(x, dim);
    for (std::int64_t row = 0; row < rows.count; ++row) {
        const auto [largest, total] = rows.exponentials(x, row);
        const std::int64_t at = rows.offset(x, row), out = rows.offset(y, row);
        for (std::int64_t e = 0; e < rows.length; ++e)
            y.set(out + e * y.strides[dim], x.get(at + e * x.strides[dim]) - largest - std::log(total));
    }
}

// -- log_softmax_vjp: dx = dy - exp(y) * sum(dy) --
std::vector<Tensor> decompose_vjp(const Node& n, std::span<const Tensor> in)
{
    const Tensor &dy = in[0], &y = in[1];
    return {dy - exp(y) * sum(dy, {n.attributes.integer("dim")}, true)};
}

void lower_vjp(Lowering& l, const Node& n)
{
    lower_rows(l, n, [](LongRows& rows, const std::vector<View>& in, const View& dx) {
        const View shares = rows.across("exp", {in[1]});
        rows.write(dx, "sub", {in[0], rows.across("mul", {shares, rows.reduced("sum", in[0])})});
    });
}

void reference_vjp(const ReferenceArguments& a)
{
    const HostTensor &dy = a.inputs[0], &y = a.inputs[1], &dx = a.outputs[0];
    const auto dim = static_cast<std::size_t>(a.attributes.integer("dim"));
    const HostRows rows(dx, dim);
    for (std::int64_t row = 0; row < rows.count; ++row) {
        const std::int64_t g = rows.offset(dy, row), v = rows.offset(y, row), out = rows.offset(dx, row);
        double total = 0;
        for (std::int64_t e = 0; e < rows.length; ++e) total += dy.get(g + e * dy.strides[dim]);
        for (std::int64_t e = 0; e < rows.length; ++e)
            dx.set(out + e * dx.strides[dim],
                   dy.get(g + e * dy.strides[dim]) - std::exp(y.get(v + e * y.strides[dim])) * total);
    }
}

} // namespace

const Op log_softmax_op{.name = "log_softmax",
                        .infer = infer_rows,
                        .vjp = vjp,
                        .decompose = decompose,
                        .lower = lower,
                        .reference = reference};
const Op log_softmax_vjp_op{.name = "log_softmax_vjp",
                            .infer = infer_rows,
                            .decompose = decompose_vjp,
                            .lower = lower_vjp,
                            .reference = reference_vjp};

} // namespace ops

Tensor log_softmax(const Tensor& x, std::int64_t dim)
{
    return ops::apply_along(ops::log_softmax_op, {x}, dim);
}

Tensor log_softmax(const Tensor& x, std::int64_t dim, DType dtype)
{
    return log_softmax(cast(x, dtype), dim);
}

} // namespace reprise
