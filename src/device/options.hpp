// Options for opening a device.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace reprise::device {

struct DeviceOptions {
    // Vulkan: enable the validation layer (the environment variable VK_INSTANCE_LAYERS does so, too).
    bool validation = false;
    // Vulkan: receives every warning and error of the layers, from any thread.
    std::function<void(const std::string&)> messages = {};
    // Vulkan, for tests: use staging copies and mirrored parameters even if the memory is visible to the host.
    bool imitate_discrete = false;
    // Vulkan, for tests: bytes of each memory heap, if the driver's has more; 0: the driver's.
    std::uint64_t heap_bytes = 0;
    // Vulkan: bytes of the first block; 0: chosen for the device.
    std::uint64_t slab_bytes = 0;
    // Vulkan: a barrier between all launches (vulkan::Handles::barrier_per_launch).
    bool barrier_per_launch = false;
};

} // namespace reprise::device
