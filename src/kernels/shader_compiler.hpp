// GLSL to a device's code at run time: to SPIR-V by shaderc, where it was linked (spirv_compiler.hpp); for CUDA by way of CUDA C++
// (cuda_text.hpp) and NVRTC, where it is found.
#pragma once
#include <cstdint>
#include <string>

#include "device/device.hpp"
#include "kernels/spirv_compiler.hpp"

namespace reprise::kernels {

// Whether there is a compiler for the device's kernels.
bool has_shader_compiler(const device::Capabilities&);
// `#include "common/X.glsl"` finds the texts inside the library.  `name`: the kernel's; `shown`: what errors call it.
SpirV compile_shader(const std::string& name, const std::string& shown, const std::string& text,
                     const device::Capabilities&, Author = Author::library);
// Of the compiler and the texts that kernels include: with it a kernel's own text says what code comes out.
std::uint64_t shader_compiler_hash(const device::Capabilities&);

} // namespace reprise::kernels
