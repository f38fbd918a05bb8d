// The SPIR-V inside the library, made by cmake/RepriseShaders.cmake.
#pragma once
#include <algorithm>
#include <span>
#include <string_view>

#include "device/packed_spirv.hpp"

namespace reprise::device {

struct EmbeddedKernel {
    const char* name; // "elementwise_tanh_fwd"
    const PackedSpirv* code;
};

// All of them, ascending by name.
std::span<const EmbeddedKernel> embedded_kernels() noexcept;

// Null: there is none of that name.
inline const EmbeddedKernel* embedded_kernel(std::string_view name)
{
    const auto all = embedded_kernels();
    const auto found = std::ranges::lower_bound(
        all, name, {}, [](const EmbeddedKernel& k) { return std::string_view(k.name); });
    return found != all.end() && found->name == name ? &*found : nullptr;
}

} // namespace reprise::device
