// Checks that a kernel has no operation that a driver may contract, fold or round differently: every float operation
// must be decorated NoContraction (`precise` in GLSL), no instruction of GLSL.std.450 may contain hidden products and
// sums, and the module must have the execution mode SignedZeroInfNanPreserve for the widths that it computes in.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace reprise::device {

// Returns one sentence for each operation that a driver may change, or one that says that the module is broken.
std::vector<std::string> spirv_faults(const std::string& kernel, std::span<const std::uint32_t> words);

} // namespace reprise::device
