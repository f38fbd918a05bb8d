// Variants of a convolution and its gradients.
#include <array>

#include "kernels/choice.hpp"

namespace reprise::kernels {

namespace {

using device::Capabilities;
using ops::ConvProblem;
using ops::Lowering;

constexpr std::array<Variant<ConvProblem>, 2> variants = {{
    {"direct", refuse_direct, direct_serves, conv_direct},
    {"patches", [](const Capabilities&, const ConvProblem&) { return std::string(); },
     [](const ConvProblem&) { return Dim(1); }, conv_patches},
}};

} // namespace

void conv(Lowering& l, const Capabilities& caps, const ConvProblem& p) { emit_fitting(variants, l, caps, p); }

std::vector<Refusal> explain_conv(const Capabilities& caps, const ConvProblem& p)
{
    return refusals(variants, caps, p);
}

} // namespace reprise::kernels
