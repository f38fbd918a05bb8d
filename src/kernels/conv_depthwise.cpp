// Convolutions whose groups have one channel each, with any number of channels out of it: windows are read where they
// lie, as a product of matrices would have one row.
#include "kernels/conv_sizes.hpp"
#include "kernels/variants.hpp"

namespace reprise::kernels {

namespace {

using device::Capabilities;
using ops::ConvProblem;
using ops::Lowering;
using ops::Use;
using ops::View;
using Wanted = ConvProblem::Wanted;

// shaders/conv_depthwise.comp; out: channels of y
DimVector ints(const ConvProblem& p, const Dim& out)
{
    DimVector list{p.x.sizes()[0], p.groups, floor_div(out, p.groups)};
    add_windows(list, p);
    return list;
}

void emit_weight(Lowering& l, const ConvProblem& p, const Dim& flops)
{
    const Dim taps = image_of(p.weight), out = p.y.sizes()[1], columns = p.x.sizes()[0] * image_of(p.y);
    const Dim length = max(256, taps),
              parts = ceil_div(columns, length); // sums of no more elements than dy has
    const View sums = l.temporary(f32, {parts, out, taps});
    DimVector all = ints(p, out);
    all.insert(all.end(), {parts, length});
    l.launch({.kernel = "conv_depthwise_weight",
              .operands = {{p.x, Use::read}, {p.y, Use::read}, {sums, Use::write}},
              .ints = std::move(all),
              .groups = ceil_div(parts * out * taps, 64),
              .flops = flops});
    l.launch({.kernel = "gemm_sum",
              .operands = {{sums, Use::read}, {p.weight, Use::write}},
              .ints = {out, taps, parts, taps},
              .groups = ceil_div(out * taps, 64)});
}

// f16 and bf16 around f32: a tile of tensor cores would have one row.
void conv_widened(Lowering& l, const ConvProblem& p)
{
    const auto wide = [&](const View& v) {
        const View to = l.temporary(f32, v.sizes());
        l.copy(v, to);
        return to;
    };
    ConvProblem q = p;
    View& made = p.wanted == Wanted::y ? q.y : p.wanted == Wanted::x ? q.x : q.weight;
    for (View* v : {&q.x, &q.y, &q.weight}) *v = v == &made ? l.temporary(f32, v->sizes()) : wide(*v);
    if (p.bias) q.bias = wide(*p.bias);
    conv_depthwise(l, q);
    l.copy(made, p.wanted == Wanted::y ? p.y : p.wanted == Wanted::x ? p.x : p.weight);
}

} // namespace

std::string refuse_depthwise(const Capabilities&, const ConvProblem& p)
{
    if (p.x.dtype == f64) return "it computes in f32";
    if (p.groups == 1) return "the channels are in one group";
    if (!same(p.weight.sizes()[1], 1)) return "a group has several channels";
    return {};
}

void conv_depthwise(Lowering& l, const ConvProblem& p)
{
    if (p.x.dtype != f32) return conv_widened(l, p);
    const Dim out = p.y.sizes()[1], elements = p.y.sizes()[0] * out * image_of(p.y);
    const Dim flops = 2 * elements * image_of(p.weight);
    if (p.wanted == Wanted::weight) return emit_weight(l, p, flops);
    if (p.wanted == Wanted::x)
        return l.launch({.kernel = "conv_depthwise_input",
                         .operands = {{p.y, Use::read}, {p.weight, Use::read}, {p.x, Use::write}},
                         .ints = ints(p, out),
                         .groups = ceil_div(p.x.sizes()[0] * p.x.sizes()[1] * image_of(p.x), 64),
                         .flops = flops});
    l.launch({.kernel = "conv_depthwise",
              .constants = {p.bias ? 1u : 0u},
              .operands = {{p.x, Use::read},
                           {p.weight, Use::read},
                           {p.bias.value_or(View()), Use::read, !p.bias},
                           {p.y, Use::write}},
              .ints = ints(p, out),
              .groups = ceil_div(elements, 64),
              .flops = flops});
}

} // namespace reprise::kernels
