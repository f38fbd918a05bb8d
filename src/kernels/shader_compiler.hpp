// Compiles GLSL to a device's code at run time: to SPIR-V by shaderc, if it is linked (spirv_compiler.hpp); for CUDA by
// translation to CUDA C++ (cuda_text.hpp) and NVRTC, if it is found.
#pragma once
#include <cstdint>
#include <string>

#include "device/device.hpp"
#include "kernels/spirv_compiler.hpp"

namespace reprise::kernels {

// Whether a compiler for the device's kernels is available.
bool has_shader_compiler(const device::Capabilities&);
// `#include "common/X.glsl"` finds the texts in the library.  `name`: the kernel's; `shown`: its name in errors.
SpirV compile_shader(const std::string& name, const std::string& shown, const std::string& text,
                     const device::Capabilities&, Author = Author::library);
// Hashes the compiler and all texts that kernels include.  This hash and a kernel's own text determine its code.
std::uint64_t shader_compiler_hash(const device::Capabilities&);
std::uint64_t shader_texts_hash(); // of the texts alone

} // namespace reprise::kernels
