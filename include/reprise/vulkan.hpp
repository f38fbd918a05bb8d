// Running on an application's own Vulkan device.  Vulkan's handles are passed as void pointers, so this
// header needs no Vulkan headers.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include <reprise/device.hpp>

namespace reprise::vulkan {

// The features that a VkDevice must enable for the library, with optional ones that the physical device
// supports.  Instance and device must be of Vulkan 1.2 or later.
class RequiredFeatures {
public:
    // Takes a VkInstance and a VkPhysicalDevice.  Error(unsupported), which names the features that the device lacks.
    RequiredFeatures(void* instance, void* physical_device);
    // A VkPhysicalDeviceFeatures2 with its chain, for VkDeviceCreateInfo::pNext; valid while this object
    // exists.
    const void* chain() const;
    // Only for the library itself.
    const std::shared_ptr<void>& implementation() const { return implementation_; }

private:
    std::shared_ptr<void> implementation_;
};

// The application's Vulkan objects, for make_device().
struct Handles {
    void* instance = nullptr;        // a VkInstance; all four objects must outlive the Device made on them
    void* physical_device = nullptr; // the VkPhysicalDevice
    void* device = nullptr;          // the VkDevice
    void* queue = nullptr;           // a VkQueue of a family with VK_QUEUE_COMPUTE_BIT
    std::uint32_t queue_family = 0;  // the queue's family index
    // The features that the VkDevice was created with.  Null: only the required ones, with which most of the
    // library's kernels cannot run, as they access the device's memory through an array of 16 storage
    // buffers.
    const RequiredFeatures* enabled = nullptr;
    // Called before each submission of the library, for an application that uses the queue, too.  May be null.
    std::function<void()> lock_queue{};
    std::function<void()> unlock_queue{}; // called after each submission of the library; may be null
};

// Creates a Device for an application's VkDevice.  Error(unsupported) where the device lacks a feature,
// Error(argument) for null handles.
Device make_device(const Handles&);

} // namespace reprise::vulkan
