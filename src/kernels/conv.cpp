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

View as_f32(Lowering& l, const View& v)
{
    if (v.dtype == f32) return v;
    const View to = l.temporary(f32, v.sizes());
    l.copy(v, to);
    return to;
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

ConvProblem with_f32_operands(Lowering& l, ConvProblem p)
{
    if (p.wanted != Wanted::x) p.x = as_f32(l, p.x);
    if (p.wanted != Wanted::weight) p.weight = as_f32(l, p.weight);
    if (p.wanted != Wanted::y) p.y = as_f32(l, p.y);
    if (p.bias) p.bias = as_f32(l, *p.bias);
    return p;
}

DType operand_dtype(const ConvProblem& p) { return p.wanted == Wanted::weight ? p.x.dtype : p.weight.dtype; }

// Where operands are f16 or bf16 and the result f32, only the variant `tile` reads them as they are.
void conv(Lowering& l, const Capabilities& caps, const ConvProblem& p)
{
    const DType result = (p.wanted == Wanted::y ? p.y : p.wanted == Wanted::x ? p.x : p.weight).dtype;
    const bool mixed = result == f32 && operand_dtype(p) != f32;
    if (!mixed) return emit_fitting(variants, l, caps, p);
    const bool by_tile = !refuse_depthwise(caps, p).empty() && refuse_conv_tile(caps, p).empty() &&
                         same(conv_tile_serves(p), 1);
    ConvProblem q = by_tile ? p : with_f32_operands(l, p);
    if (q.bias) q.bias = as_f32(l, *q.bias);
    emit_fitting(variants, l, caps, q);
}

std::vector<Refusal> explain_conv(const Capabilities& caps, const ConvProblem& p)
{
    return refusals(variants, caps, p);
}

} // namespace reprise::kernels
