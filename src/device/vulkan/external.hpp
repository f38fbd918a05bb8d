// Opens a device on the application's own Vulkan device.
#pragma once
#include "device/device.hpp"
#include "device/options.hpp"
#include "device/vulkan/physical_device.hpp"

namespace reprise::device::vulkan {

struct ExternalVulkan {
    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice physical_device = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE; // all four outlive the Device that uses them
    VkQueue queue = VK_NULL_HANDLE;
    std::uint32_t queue_family = 0;
    // The features that the VkDevice was created with.  Null: the required features and nothing else.
    const FeatureChain* enabled = nullptr;
    // Called around each of the library's submissions; needed if the application submits to the queue as well.
    std::function<void()> lock_queue, unlock_queue;
};

// Returns the features that a VkDevice must have enabled and the optional ones, as far as they are supported.  Chain
// head() into VkDeviceCreateInfo::pNext of a Vulkan 1.2 device.  Throws Error(unsupported) with the missing features.
FeatureChain required_features(VkInstance, VkPhysicalDevice);

std::shared_ptr<Device> open_external(const ExternalVulkan&, const DeviceOptions& = {});

} // namespace reprise::device::vulkan
