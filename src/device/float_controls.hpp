// Decorations and modes of SPIR-V that keep drivers from changing float operations, and that GLSL cannot declare: fma()
// has no NoContraction, and an execution mode has one width in a module.  Also compiled into the build tool.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace reprise::device {

// Returns the module (SPIR-V 1.4 or later) with
// - the execution mode SignedZeroInfNanPreserve for each type of floats of 32 or 64 bits that lacks it: without it
//   drivers may fold x - x and x * 0 to 0.  Kernels only load and store floats of 16 bits.
// - NoContraction for each fma: without it drivers may compute a product and a sum, each rounded.
std::vector<std::uint32_t> with_float_controls(std::span<const std::uint32_t> words);

// Returns the module without SignedZeroInfNanPreserve for floats of these widths, for devices that do not support it;
// without its capability, too, if no other width remains.
std::vector<std::uint32_t> without_preserve_mode(std::span<const std::uint32_t> words,
                                                 std::span<const std::uint32_t> widths);

} // namespace reprise::device
