// The SPIR-V inside the library, made by cmake/RepriseShaders.cmake.
#pragma once
#include <span>

#include "device/packed_spirv.hpp"

namespace reprise::device {

struct EmbeddedKernel {
    const char* name; // "elementwise_tanh_fwd"
    const PackedSpirv* code;
};

// All of them, ascending by name.
std::span<const EmbeddedKernel> embedded_kernels() noexcept;

} // namespace reprise::device
