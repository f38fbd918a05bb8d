// Variants of a convolution and its gradients.
#include <array>

#include "kernels/variants.hpp"

namespace reprise::kernels {

namespace {

using device::Capabilities;
using ops::ConvProblem;
using ops::Lowering;

struct Variant {
    const char* name;
    std::string (*refuse)(const Capabilities&, const ConvProblem&); // empty: it can
    Dim (*serves)(const ConvProblem&); // 1 at the sizes that it can serve, else 0
    void (*emit)(Lowering&, const ConvProblem&);
};

constexpr std::array<Variant, 2> variants = {{
    {"direct", refuse_direct, direct_serves, conv_direct},
    {"patches", [](const Capabilities&, const ConvProblem&) { return std::string(); },
     [](const ConvProblem&) { return Dim(1); }, conv_patches},
}};

} // namespace

void conv(Lowering& l, const Capabilities& caps, const ConvProblem& p)
{
    Dim open = 1; // whether no variant has taken it yet
    for (const Variant& v : variants) {
        if (!v.refuse(caps, p).empty()) continue;
        const Dim serves = v.serves(p);
        if (serves == Dim(0)) continue;
        l.when(open * serves, [&] { v.emit(l, p); });
        if (serves == Dim(1)) return;
        open *= 1 - serves;
    }
}

std::vector<Refusal> explain_conv(const Capabilities& caps, const ConvProblem& p)
{
    std::vector<Refusal> out;
    for (const Variant& v : variants) {
        std::string reason = v.refuse(caps, p);
        if (reason.empty() && v.serves(p) == Dim(0)) reason = "the sizes do not fit";
        out.push_back({v.name, reason});
    }
    return out;
}

} // namespace reprise::kernels
