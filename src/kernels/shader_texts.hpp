// Texts of shaders inside the library, put there by cmake/RepriseShaders.cmake: what kernels include that are made at
// run time, and the reductions that they are variants of.
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

// A kernel that a shader of shaders/common/reduce.glsl lists.  Throws Error(internal) where none does.
struct ReductionVariant {
    std::string text;
    std::vector<std::string> definitions; // "ROWS"
    bool defines(const char* name) const
    {
        return std::find(definitions.begin(), definitions.end(), name) != definitions.end();
    }
};
ReductionVariant reduction_variant(const std::string& kernel);

} // namespace reprise::kernels
