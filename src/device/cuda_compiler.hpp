// NVRTC, NVIDIA's run-time compiler, if its library is found.  It is part of the CUDA toolkit, not of the driver.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reprise::device::cuda {

// Says why there is no compiler; empty: there is one.
const std::string& compiler_missing();
std::string compiler_version(); // "nvrtc 13.0"

// Compiles CUDA C++ to code for devices of a compute capability (90: 9.0).  `headers` are names and texts.  Throws
// Error(argument) with the compiler's log if the text does not compile, Error(unsupported) if there is no compiler.
std::vector<std::uint32_t> compile(const std::string& name, const std::string& text,
                                   std::span<const std::pair<std::string, std::string>> headers,
                                   std::uint32_t compute_capability);

// Returns NVRTC's log with positions as GLSL's compilers write them: "name(3): error" at the start of a line becomes
// "name:3: error".
std::string with_glsl_positions(std::string_view log);

} // namespace reprise::device::cuda
