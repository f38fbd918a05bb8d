// How a device is opened.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace reprise::device {

struct DeviceOptions {
    // Vulkan: ask for the validation layer (it can be had without this, too: VK_INSTANCE_LAYERS).
    bool validation = false;
    // Vulkan: gets every warning and error of the layers, from any thread.
    std::function<void(const std::string&)> messages = {};
    // Vulkan, tests: use staging copies and mirrored parameters although the memory is visible to the host.
    bool imitate_discrete = false;
    // Vulkan: bytes of the first block; 0: as fits the device.
    std::uint64_t slab_bytes = 0;
};

} // namespace reprise::device
