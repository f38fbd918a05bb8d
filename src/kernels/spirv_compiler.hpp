// The compiler of GLSL that programs have which link reprise::fuser, and others lack: shaderc is 7 MB of a
// program.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace reprise::kernels {

using SpirV = std::vector<std::uint32_t>;

// Whose text it is.  The library's own: Error(internal) with the compiler's words where it fails, and for code that a
// driver may change (device/spirv_check.hpp).  A user's: Error(argument), and it rounds as the user likes.
enum class Author : std::uint8_t { library, user };

struct SpirvCompiler {
    // `name`: what errors call the text.
    SpirV (*compile)(const std::string& name, const std::string& text, Author);
    std::string version; // another where other code may come out
};

const SpirvCompiler* spirv_compiler() noexcept; // null: none is linked
// Kept for good.  Called before main(), or while nothing else runs.
void set_spirv_compiler(const SpirvCompiler*) noexcept;

} // namespace reprise::kernels
