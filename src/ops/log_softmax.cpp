#include <cmath>

#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/losses.hpp>
#include <reprise/ops/reductions.hpp>

#include "ops/autocast.hpp"
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
    for_each_row(a, [](std::span<const HostTensor> in, std::span<const HostTensor> out) {
        const Exponentials of(in[0]);
        for (std::int64_t e = 0; e < out[0].count(); ++e)
            out[0].put(e, in[0].at(e) - of.largest - std::log(of.total));
    });
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
    for_each_row(a, [](std::span<const HostTensor> in, std::span<const HostTensor> out) {
        const HostTensor &dy = in[0], &y = in[1];
        double total = 0;
        for (std::int64_t e = 0; e < y.count(); ++e) total += dy.at(e);
        for (std::int64_t e = 0; e < y.count(); ++e) out[0].put(e, dy.at(e) - std::exp(y.at(e)) * total);
    });
}

} // namespace

const Op log_softmax_op{.name = "log_softmax",
                        .infer = infer_one_type,
                        .vjp = vjp,
                        .decompose = decompose,
                        .lower = lower,
                        .reference = reference};
const Op log_softmax_vjp_op{.name = "log_softmax_vjp",
                            .infer = infer_one_type,
                            .decompose = decompose_vjp,
                            .lower = lower_vjp,
                            .reference = reference_vjp};

} // namespace ops

Tensor log_softmax(const Tensor& x, std::int64_t dim)
{
    if (const ops::Autocast to = ops::Autocast::f32({&x}); to) return log_softmax(to(x), dim);
    return ops::apply_along(ops::log_softmax_op, {x}, dim);
}

Tensor log_softmax(const Tensor& x, std::int64_t dim, DType dtype)
{
    const graph::NoAutocast in_this_dtype;
    return log_softmax(cast(x, dtype), dim);
}

} // namespace reprise
