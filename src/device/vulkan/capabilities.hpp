// The capabilities of a Vulkan device, as the other rooms see them.
#pragma once
#include "device/device.hpp"

namespace reprise::device::vulkan {

struct PhysicalDevice;

inline constexpr std::uint64_t window_bytes = std::uint64_t{128}
                                              << 20; // shaders/common/abi.glsl: 2^23 texels
inline constexpr std::uint32_t window_count = 16;

// Fills all fields but the slab's, which are set when the device is open.
Capabilities capabilities_of(const PhysicalDevice&, const std::string& id);
// Whether a descriptor set may hold 16 windows, and a kernel may index them dynamically.
bool windows_allowed(const PhysicalDevice&);

} // namespace reprise::device::vulkan
