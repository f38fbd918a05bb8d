// GLSL to SPIR-V at run time: shaderc, where it was built in.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace reprise::kernels {

using SpirV = std::vector<std::uint32_t>;

// Whether a compiler was built in (REPRISE_FUSER).
bool has_shader_compiler() noexcept;
// `#include "common/X.glsl"` finds the texts inside the library.  The library's own text: Error(internal)
// with the compiler's words where it fails, and for code that a driver may change
// (device/spirv_check.hpp).  A user's: Error(argument), and it rounds as he likes.
enum class Author : std::uint8_t { library, user };
SpirV compile_shader(const std::string& name, const std::string& text, Author = Author::library);
// Of the compiler and the texts that kernels include: with it a kernel's own text says what code comes out.
std::uint64_t shader_compiler_hash();

} // namespace reprise::kernels
