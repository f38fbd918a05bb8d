// Launches of kernels that have a texel variant, which may serve all sizes or only some.
#pragma once
#include <cstdint>
#include <utility>

#include "ops/lowering.hpp"

namespace reprise::ops {

// A condition on sizes as a Dim: 1 if it holds at the call, else 0. It is a constant if the bounds decide it.
inline Dim is_multiple(const Dim& d, std::int64_t n)
{
    return d.divisible_by(n) ? Dim(1) : 1 - min(1, mod(d, n));
}
inline Dim is_at_least(const Dim& d, std::int64_t n)
{
    return d.at_least(n) ? Dim(1) : min(1, floor_div(d, n));
}

// Runs `texel` at calls where the condition holds and the operands are in the slab, else `address`. If the condition
// is not constant, both are recorded, and at each call one of them gets zero groups.
inline void launch_where(Lowering& l, const Dim& condition, LaunchSpec texel, LaunchSpec address)
{
    if (!l.texels() || same(condition, 0)) return l.launch(std::move(address));
    texel.texels = true;
    if (!same(condition, 1)) {
        LaunchSpec otherwise = address;
        otherwise.groups *= 1 - condition;
        l.launch(std::move(otherwise));
        texel.groups *= condition;
        address.groups *= condition;
    }
    l.launch(std::move(texel), std::move(address));
}

// Returns a launch of the kernel's texel variant, <kernel>_texel, with the same arguments.
inline LaunchSpec texel_variant(LaunchSpec spec)
{
    spec.kernel += "_texel";
    spec.texels = true;
    return spec;
}
inline void launch_with_texels(Lowering& l, const Dim& condition, LaunchSpec address)
{
    LaunchSpec texel = texel_variant(address);
    launch_where(l, condition, std::move(texel), std::move(address));
}

} // namespace reprise::ops
