// Running on the application's own Vulkan device.
#pragma once
#include "device/device.hpp"
#include "device/options.hpp"
#include "device/vulkan/physical_device.hpp"

namespace reprise::device::vulkan {

struct ExternalVulkan {
    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice physical_device = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE; // all four outlive the Device that is made on them
    VkQueue queue = VK_NULL_HANDLE;
    std::uint32_t queue_family = 0;
    // What the VkDevice was made with.  Null: the required features and nothing else.
    const FeatureChain* enabled = nullptr;
    // Where the application submits to the queue as well: called around each of our submissions.
    std::function<void()> lock_queue, unlock_queue;
};

// What a VkDevice must have enabled, and what it should have, all of it supported: chain head() into
// VkDeviceCreateInfo::pNext of a device of Vulkan 1.2.  Throws Error(unsupported) with what is missing.
FeatureChain required_features(VkInstance, VkPhysicalDevice);

std::shared_ptr<Device> open_external(const ExternalVulkan&, const DeviceOptions& = {});

} // namespace reprise::device::vulkan
