// The compiler of GLSL that programs have which link reprise::fuser, and others lack: shaderc is 7 MB of a
// program.
#pragma once
#include <string>

#include "kernels/shader_compiler.hpp"

namespace reprise::kernels {

struct SpirvCompiler {
    // `name`: what errors call the text.
    SpirV (*compile)(const std::string& name, const std::string& text, Author);
    std::string version; // another where other code may come out
};

const SpirvCompiler* spirv_compiler() noexcept; // null: none is linked
// Kept for good.  Called before main(), or while nothing else runs.
void set_spirv_compiler(const SpirvCompiler*) noexcept;

} // namespace reprise::kernels
