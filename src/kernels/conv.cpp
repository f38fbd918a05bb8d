// Variants of a convolution and its gradients.
#include <array>

#include "kernels/choice.hpp"

namespace reprise::kernels {

namespace {

using device::Capabilities;
using ops::ConvProblem;
using ops::Lowering;

Dim always(const ConvProblem&) { return 1; }

constexpr std::array<Variant<ConvProblem>, 6> variants = {{
    {"direct", refuse_direct, direct_serves, conv_direct},
    {"depthwise", refuse_depthwise, always, conv_depthwise},
    {"pointwise", refuse_pointwise, always, conv_pointwise},
    {"implicit", refuse_implicit, always, conv_implicit},
    {"tile", refuse_conv_tile, always, conv_tile},
    {"patches", [](const Capabilities&, const ConvProblem&) { return std::string(); }, always, conv_patches},
}};

} // namespace

void conv(Lowering& l, const Capabilities& caps, const ConvProblem& p) { emit_fitting(variants, l, caps, p); }

std::vector<Refusal> explain_conv(const Capabilities& caps, const ConvProblem& p)
{
    return refusals(variants, caps, p);
}

} // namespace reprise::kernels
