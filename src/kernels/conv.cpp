// Variants of a convolution and its gradients.
#include <array>

#include "kernels/choice.hpp"

namespace reprise::kernels {

namespace {

using device::Capabilities;
using ops::ConvProblem;
using ops::Lowering;
using ops::View;
using Wanted = ConvProblem::Wanted;

Dim always(const ConvProblem&) { return 1; }

View& result_of(ConvProblem& p)
{
    return p.wanted == Wanted::y ? p.y : p.wanted == Wanted::x ? p.x : p.weight;
}

constexpr std::array<Variant<ConvProblem>, 6> variants = {{
    {"direct", refuse_direct, direct_serves, conv_direct},
    {"depthwise", refuse_depthwise, always, conv_depthwise},
    {"pointwise", refuse_pointwise, always, conv_pointwise},
    {"implicit", refuse_implicit, always, conv_implicit},
    {"tile", refuse_conv_tile, conv_tile_serves, conv_tile},
    {"patches", [](const Capabilities&, const ConvProblem&) { return std::string(); }, always, conv_patches},
}};

} // namespace

View as_f32(Lowering& l, const View& v)
{
    if (v.dtype == f32) return v;
    const View to = l.temporary(f32, v.sizes());
    l.copy(v, to);
    return to;
}

DType operand_dtype(const ConvProblem& p) { return p.wanted == Wanted::weight ? p.x.dtype : p.weight.dtype; }

void conv_in_f32(Lowering& l, const Capabilities& caps, ConvProblem p)
{
    if (p.wanted != Wanted::x) p.x = as_f32(l, p.x);
    if (p.wanted != Wanted::weight) p.weight = as_f32(l, p.weight);
    if (p.wanted != Wanted::y) p.y = as_f32(l, p.y);
    if (p.bias) p.bias = as_f32(l, *p.bias);
    View& result = result_of(p);
    const View to = result;
    if (to.dtype != f32) result = l.temporary(f32, to.sizes());
    emit_fitting(variants, l, caps, p);
    if (to.dtype != f32) l.copy(result, to);
}

// Where operands are f16 or bf16 and products are of f32, only the variants `direct` and `tile` read them as they are.
void conv(Lowering& l, const Capabilities& caps, const ConvProblem& p)
{
    ConvProblem q = p;
    const bool of_f32 =
        size_of(operand_dtype(p)) == 2 && (result_of(q).dtype == f32 || direct_takes_halves(caps));
    if (!of_f32) return emit_fitting(variants, l, caps, p);
    const auto fits = [&](auto refuse, auto serves) { return refuse(caps, p).empty() && same(serves(p), 1); };
    if (!refuse_depthwise(caps, p).empty() &&
        (fits(refuse_direct, direct_serves) || fits(refuse_conv_tile, conv_tile_serves))) {
        if (q.bias) q.bias = as_f32(l, *q.bias);
        emit_fitting(variants, l, caps, q);
    } else conv_in_f32(l, caps, p);
}

std::vector<Refusal> explain_conv(const Capabilities& caps, const ConvProblem& p)
{
    return refusals(variants, caps, p);
}

} // namespace reprise::kernels
