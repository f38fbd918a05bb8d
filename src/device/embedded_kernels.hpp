// The SPIR-V inside the library, made by cmake/RepriseShaders.cmake.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace reprise::device {

struct EmbeddedKernel {
    const char* name; // "elementwise_tanh_fwd"
    const std::uint32_t* words;
    std::size_t count; // of words
};

// All of them, ascending by name.
std::span<const EmbeddedKernel> embedded_kernels() noexcept;

} // namespace reprise::device
