// Which variant of a list serves a problem.
#pragma once
#include "kernels/variants.hpp"

namespace reprise::kernels {

template <class Problem> struct Variant {
    const char* name;
    std::string (*refuse)(const device::Capabilities&, const Problem&); // empty: it can
    Dim (*serves)(const Problem&); // 1 at the sizes that it serves, else 0
    void (*emit)(ops::Lowering&, const Problem&);
};

// The first that fits; where that depends on sizes of the call, all that may, each at the sizes that it is first for.
template <class Variants, class Problem> void emit_fitting(const Variants& variants, ops::Lowering& l,
                                                           const device::Capabilities& caps, const Problem& p)
{
    Dim open = 1; // whether no variant has taken it yet
    for (const auto& v : variants) {
        if (!v.refuse(caps, p).empty()) continue;
        const Dim serves = v.serves(p);
        if (same(serves, 0)) continue;
        l.when(open * serves, [&] { v.emit(l, p); });
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
        if (reason.empty() && same(v.serves(p), 0)) reason = "the sizes do not fit";
        out.push_back({v.name, reason});
    }
    return out;
}

} // namespace reprise::kernels
