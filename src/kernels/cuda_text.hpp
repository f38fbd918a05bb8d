// GLSL as CUDA C++: the shaders whose kernels serve a GPU as they stand, and the fuser's texts, are written once.  What
// they are written in is small enough to rewrite token by token; cuda/common/glsl.cuh gives its types and functions.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::kernels {

struct GlslKernel {
    std::string name;                     // of the kernel: an identifier
    std::string shown = {};               // what a compiler calls its source behind a #line; empty: the name
    std::string text;                     // of a shader
    std::vector<std::string> definitions; // "ROWS", "OPERANDS=3"
    // The text that `#include "<file>"` stands for.
    std::function<std::string(const std::string& file)> include;
};

// One kernel, to stand behind `#include "common/kernel.cuh"`; it leaves no macro behind.  A shader becomes a struct, since
// its globals belong to an invocation.  Throws std::runtime_error where the text uses what is not known here.
std::string cuda_of_glsl(const GlslKernel&);

// Functions and constants of shaders/common/ in namespace rp, for kernels that are written in CUDA.
std::string cuda_header_of_glsl(const GlslKernel&);

} // namespace reprise::kernels
