// The CUDA kernels inside the library, made by cmake/RepriseCuda.cmake.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace reprise::device::cuda {

struct EmbeddedModule {
    const std::uint64_t* image; // a fatbinary
    std::size_t words;
};
struct EmbeddedKernel {
    const char* name; // "layer_norm"
    std::uint32_t module;
};

std::span<const EmbeddedModule> embedded_modules() noexcept;
std::span<const EmbeddedKernel> embedded_kernels() noexcept; // ascending by name

} // namespace reprise::device::cuda
