// SPIR-V's execution mode SignedZeroInfNanPreserve, which GLSL cannot declare for two widths in one module.  Without it
// drivers may fold x - x and x * 0 to 0, although the operations are NoContraction.  Also compiled into the build tool.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace reprise::device {

// Returns the module (SPIR-V 1.4 or later) with the mode for each type of floats of 32 or 64 bits that lacks it.
// Kernels only load and store floats of 16 bits.
std::vector<std::uint32_t> with_preserve_mode(std::span<const std::uint32_t> words);

// Returns the module without the mode for floats of these widths, for devices that do not support it; without its
// capability, too, if no other width remains.
std::vector<std::uint32_t> without_preserve_mode(std::span<const std::uint32_t> words,
                                                 std::span<const std::uint32_t> widths);

} // namespace reprise::device
