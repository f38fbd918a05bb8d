// What the rest of the library is told about a Vulkan device.
#pragma once
#include "device/device.hpp"

namespace reprise::device::vulkan {

struct PhysicalDevice;

inline constexpr std::uint64_t window_bytes = std::uint64_t{128}
                                              << 20; // shaders/common/abi.glsl: 2^23 texels
inline constexpr std::uint32_t window_count = 16;

// All but the slab's fields, which are known when the device is open.
Capabilities capabilities_of(const PhysicalDevice&, const std::string& id);
// May a static set hold 16 windows, and a kernel index them?
bool windows_allowed(const PhysicalDevice&);

} // namespace reprise::device::vulkan
