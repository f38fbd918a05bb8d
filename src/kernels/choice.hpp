// Chooses the variants that run a problem from an ordered list.
#pragma once
#include "kernels/variants.hpp"

namespace reprise::kernels {

template <class Problem> struct Variant {
    const char* name;
    std::string (*refuse)(const device::Capabilities&, const Problem&); // the reason; empty: it can run
    Dim (*serves)(const device::Capabilities&, const Problem&);         // 1 at sizes where it can run, else 0
    void (*emit)(ops::Lowering&, const device::Capabilities&, const Problem&);
};

// Emits the first variant that fits.  If that depends on the sizes of a call, emits all that may fit, each with a
// condition that is 1 at the sizes where it is the first.
template <class Variants, class Problem> void emit_fitting(const Variants& variants, ops::Lowering& l,
                                                           const device::Capabilities& caps, const Problem& p)
{
    Dim open = 1; // 1 at sizes that no earlier variant runs at
    for (const auto& v : variants) {
        if (!v.refuse(caps, p).empty()) continue;
        const Dim serves = v.serves(caps, p);
        if (same(serves, 0)) continue;
        l.when(open * serves, [&] { v.emit(l, caps, p); });
        if (same(serves, 1)) return;
        open *= 1 - serves;
    }
}

template <class Variants, class Problem>
std::vector<Refusal> refusals(const Variants& variants, const device::Capabilities& caps, const Problem& p)
{
    std::vector<Refusal> out;
    for (const auto& v : variants) {
        std::string reason = v.refuse(caps, p);
        if (reason.empty() && same(v.serves(caps, p), 0)) reason = "the sizes do not fit";
        out.push_back({v.name, reason});
    }
    return out;
}

} // namespace reprise::kernels
