// Translates GLSL to CUDA C++, so that the fuser's texts, and shaders that suit GPUs without changes, are written once.
// The subset of GLSL is small enough to rewrite token by token; cuda/common/glsl.cuh defines its types and functions.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::kernels {

struct GlslKernel {
    std::string name;                     // of the kernel: an identifier
    std::string shown = {};               // the file name in #line directives and errors; empty: the name
    std::string text;                     // of a shader
    std::vector<std::string> definitions; // "ROWS", "OPERANDS=3"
    // Returns the text of `#include "<file>"`.
    std::function<std::string(const std::string& file)> include;
};

// Returns one kernel, to be put after `#include "common/kernel.cuh"`; it undefines its macros at the end.  A shader
// becomes a struct, as its globals belong to an invocation.  Throws std::runtime_error for GLSL outside of the subset.
std::string cuda_of_glsl(const GlslKernel&);

// Returns functions and constants of shaders/common/ in namespace rp, for kernels that are written in CUDA.
std::string cuda_header_of_glsl(const GlslKernel&);

} // namespace reprise::kernels
