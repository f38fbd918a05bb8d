// Texts of shaders in the library, embedded by cmake/RepriseShaders.cmake: headers that kernels written at run time
// include, and the reductions and products into which chains are fused.
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace reprise::kernels {

struct ShaderText {
    const char* name; // "common/abi.glsl"
    const char* text;
};

std::span<const ShaderText> shader_texts() noexcept;

// A kernel that one of these shaders lists.  Throws Error(internal) if none lists it.
struct ShaderVariant {
    std::string text;
    std::vector<std::string> definitions; // "ROWS", "ROWS=32u"
    bool defines(const char* name) const
    {
        return std::find(definitions.begin(), definitions.end(), name) != definitions.end();
    }
};
ShaderVariant shader_variant(const std::string& kernel);

} // namespace reprise::kernels
