// linear_scan: y[e] = a[e] y[e - 1] + b[e] along a dimension. Its gradient is a linear_scan from the end, so that
// gradients of products exist to any order, even with zeros among the factors.
#include "ops/linear_scan.hpp"

#include <reprise/ops/shapes.hpp>

#include "ops/records.hpp"
#include "ops/reduce.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise::ops {
namespace {

constexpr std::int64_t block = 256; // as in shaders/scan.comp and linear_scan.comp

TensorTypes infer(const Op& op, const InputTypes& in, const Attributes&)
{
    require_floating(op.name, in[0].dtype);
    return {in[0]};
}

std::vector<Tensor> vjp(const VjpArguments& a)
{
    const std::int64_t dim = a.node.attributes.integer("dim");
    const Tensor db = linear_scan_back(behind_each(a.inputs[0], dim, 0), a.cotangents[0], dim);
    if (!a.wanted[0]) return {{}, db};
    return {db * before_each(a.outputs[0], dim, 0), db};
}

void lower(Lowering& l, const Node& n)
{
    const View a = l.contiguous(l.input(0)), b = l.contiguous(l.input(1));
    require_floating_kernel(n.op->name, b.dtype);
    lower_scan(
        l, n,
        {.totals =
             [&](const ScanSizes& s, const View& totals) {
                 const records::linear_scan_totals record{.a = a,
                                                          .b = b,
                                                          .totals = totals,
                                                          .outer = s.outer,
                                                          .n = s.n,
                                                          .inner = s.inner,
                                                          .blocks = s.blocks};
                 return record.launch();
             },
         .carry =
             [&](const ScanSizes& s, const View& totals) {
                 const records::linear_scan_carry record{
                     .totals = totals, .outer = s.outer, .n = s.n, .inner = s.inner, .blocks = s.blocks};
                 return record.launch();
             },
         .result =
             [&](const ScanSizes& s, const records::Input& totals) {
                 const records::linear_scan record{.a = a,
                                                   .b = b,
                                                   .totals = totals,
                                                   .y = l.output(),
                                                   .outer = s.outer,
                                                   .n = s.n,
                                                   .inner = s.inner,
                                                   .blocks = s.blocks};
                 return record.launch();
             }});
}

void reference(const ReferenceArguments& a)
{
    for_each_row(a, [](std::span<const HostTensor> in, std::span<const HostTensor> out) {
        double value = 0;
        for (std::int64_t e = 0; e < out[0].count(); ++e) {
            value = in[0].at(e) * value + in[1].at(e);
            out[0].put(e, value);
        }
    });
}

// Shifts x by one along dim, forward if before is 1 and back if it is 0, and fills the gap with `value`.
Tensor shifted(const Tensor& x, std::int64_t dim, std::int64_t before, double value)
{
    const std::size_t d = shape::normalize_dim("linear_scan", dim, x.shape().size());
    DimVector amounts(2 * (x.shape().size() - d), 0);
    amounts[amounts.size() - 2] = before;
    amounts.back() = 1 - before;
    return narrow(pad(x, amounts, value), dim, 1 - before, x.shape()[d]);
}

} // namespace

void lower_scan(Lowering& l, const Node& n, const ScanLaunches& launches)
{
    const View y = l.output();
    const auto dim = static_cast<std::size_t>(n.attributes.integer("dim"));
    const AroundDim lines(y.sizes(), dim);
    const Dim length = y.sizes()[dim];
    const Dim blocks = max(ceil_div(length, block), 1);
    const ScanSizes sizes{lines.outer, length, lines.inner, blocks};
    const bool one = length.at_most(block);
    // 1 if a line has more than one block, else 0
    const Dim several = one ? Dim(0) : floor_div(min(blocks, 2), 2);
    const auto launch = [&](LaunchSpec spec, const Dim& invocations) {
        spec.groups = ceil_div(invocations, 64);
        l.launch(std::move(spec));
    };
    const Dim all = lines.outer * blocks * lines.inner;
    if (!one)
        l.when(several, [&] {
            const View totals = l.temporary(y.dtype, {all * 2});
            launch(launches.totals(sizes, totals), all);
            launch(launches.carry(sizes, totals), lines.outer * lines.inner);
            launch(launches.result(sizes, totals), all);
        });
    l.when(1 - several, [&] { launch(launches.result(sizes, records::Absent{}), all); });
}

Tensor linear_scan_back(const Tensor& a, const Tensor& b, std::int64_t dim)
{
    return flip(graph::apply1(linear_scan_op, {flip(a, {dim}), flip(b, {dim})}, {{"dim", dim}}), {dim});
}
Tensor before_each(const Tensor& x, std::int64_t dim, double value) { return shifted(x, dim, 1, value); }
Tensor behind_each(const Tensor& x, std::int64_t dim, double value) { return shifted(x, dim, 0, value); }

const Op linear_scan_op{.name = "linear_scan",
                        .infer = infer,
                        .vjp = vjp,
                        .lower = lower,
                        .reference = reference,
                        .doubles = true};

} // namespace reprise::ops
