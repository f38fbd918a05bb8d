// NVIDIA's compiler at run time, where its library is found; a part of the toolkit, not of the driver.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace reprise::device::cuda {

// Why there is no compiler; empty: there is one.
const std::string& compiler_missing();
std::string compiler_version(); // "nvrtc 13.0"

// CUDA C++ to code for devices of a compute capability (90: 9.0).  Headers: names and texts.  Throws Error(argument) with
// the compiler's words where the text does not compile, Error(unsupported) where there is no compiler.
std::vector<std::uint32_t> compile(const std::string& name, const std::string& text,
                                   std::span<const std::pair<std::string, std::string>> headers,
                                   std::uint32_t compute_capability);

} // namespace reprise::device::cuda
