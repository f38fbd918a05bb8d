// The GLSL compiler.  Only programs that link reprise::fuser have one, since shaderc adds 7 MB to a program.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace reprise::kernels {

using SpirV = std::vector<std::uint32_t>;

// The author of a text.  For the library's texts, Error(internal) reports the compiler's message if it fails, and code
// that a driver may change (device/spirv_check.hpp).  For a user's, Error(argument), without the check of the code.
enum class Author : std::uint8_t { library, user };

struct SpirvCompiler {
    // `name`: of the text, for errors.
    SpirV (*compile)(const std::string& name, const std::string& text, Author);
    bool (*knows)(const std::string& extension); // of GLSL
    std::string version;                         // differs between compilers that may generate different code
};

const SpirvCompiler* spirv_compiler() noexcept; // null if none is linked
// The object must never be destroyed.  Must be called before main(), or while no other thread runs.
void set_spirv_compiler(const SpirvCompiler*) noexcept;

} // namespace reprise::kernels
