// The texts of shaders/common/ inside the library, made by cmake/RepriseShaders.cmake: what kernels include that are
// made at run time.
#pragma once
#include <span>

namespace reprise::kernels {

struct ShaderText {
    const char* name; // "common/abi.glsl"
    const char* text;
};

std::span<const ShaderText> shader_texts() noexcept;

} // namespace reprise::kernels
