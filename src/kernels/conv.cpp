// Variants of a convolution and its gradients.
#include <array>
#include <span>

#include "kernels/choice.hpp"
#include "kernels/native.hpp"

namespace reprise::kernels {

namespace {

using device::Capabilities;
using ops::as_f32;
using ops::ConvProblem;
using ops::Lowering;
using ops::View;
using Wanted = ConvProblem::Wanted;

Dim always(const Capabilities&, const ConvProblem&) { return 1; }
Dim direct_serves_at(const Capabilities&, const ConvProblem& p) { return direct_serves(p); }
Dim tile_serves_at(const Capabilities&, const ConvProblem& p) { return conv_tile_serves(p); }

constexpr std::array<Variant<ConvProblem>, 7> variants = {{
    {"native", refuse_native_conv, native_conv_serves, native_conv},
    {"direct", refuse_direct, direct_serves_at, conv_direct},
    {"depthwise", refuse_depthwise, always, conv_depthwise},
    {"pointwise", refuse_pointwise, always, conv_pointwise},
    {"implicit", refuse_implicit, always, conv_implicit},
    {"tile", refuse_conv_tile, tile_serves_at, conv_tile},
    {"patches", [](const Capabilities&, const ConvProblem&) { return std::string(); }, always, conv_patches},
}};

} // namespace

DType operand_dtype(const ConvProblem& p) { return p.wanted == Wanted::weight ? p.x.dtype : p.weight.dtype; }

void conv_in_f32(Lowering& l, const Capabilities& caps, ConvProblem p)
{
    View& result = p.wanted == Wanted::y ? p.y : p.wanted == Wanted::x ? p.x : p.weight;
    const View to = result;
    for (View* v : {&p.x, &p.weight, &p.y})
        if (v != &result) *v = as_f32(l, *v);
    if (p.bias) p.bias = as_f32(l, *p.bias);
    if (to.dtype != f32) result = l.temporary(f32, to.sizes());
    emit_fitting(std::span(variants).subspan(1), l, caps, p); // without native code, which reads halves
    if (to.dtype != f32) l.copy(result, to);
}

namespace {

// Where products of f16 and bf16 are computed in f32, only `native`, `direct` and `tile` read all operands as they are.
// Others compute in f32; the plan removes the casts of images that their kernels read as they are
// (LaunchSpec::converts).
void conv_of_halves(Lowering& l, const Capabilities& caps, const ConvProblem& p)
{
    const bool is_direct = refuse_direct(caps, p).empty();
    Dim as_stored = 0; // 1 at sizes where `direct` or `tile` reads the operands
    if (!refuse_depthwise(caps, p).empty()) {
        if (is_direct) as_stored = direct_serves(p);
        else if (refuse_conv_tile(caps, p).empty()) as_stored = conv_tile_serves(p);
    }
    if (!same(as_stored, 0))
        l.when(as_stored, [&] {
            ConvProblem q = p;
            if (q.bias) q.bias = as_f32(l, *q.bias);
            (is_direct ? conv_direct : conv_tile)(l, caps, q);
        });
    if (!same(as_stored, 1)) l.when(1 - as_stored, [&] { conv_in_f32(l, caps, p); });
}

} // namespace

void conv(Lowering& l, const Capabilities& caps, const ConvProblem& p)
{
    const DType result = (p.wanted == Wanted::y ? p.y : p.wanted == Wanted::x ? p.x : p.weight).dtype;
    if (size_of(operand_dtype(p)) != 2 || (result != f32 && !direct_reads_and_writes(caps, result)))
        return emit_fitting(variants, l, caps, p);
    const Dim is_native = refuse_native_conv(caps, p).empty() ? native_conv_serves(caps, p) : Dim(0);
    if (!same(is_native, 0)) l.when(is_native, [&] { native_conv(l, caps, p); });
    if (!same(is_native, 1)) l.when(1 - is_native, [&] { conv_of_halves(l, caps, p); });
}

std::vector<Refusal> explain_conv(const Capabilities& caps, const ConvProblem& p)
{
    return refusals(variants, caps, p);
}

} // namespace reprise::kernels
