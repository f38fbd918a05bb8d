// Running on an application's own Vulkan device.  Handles are passed as the pointers that they are, so this
// header needs no Vulkan headers.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include <reprise/device.hpp>

namespace reprise::vulkan {

// What a VkDevice must have enabled, and what it should have of what this physical device supports.  The
// instance and the device are of Vulkan 1.2 or later.  Throws Error(unsupported) with what is missing.
class RequiredFeatures {
public:
    RequiredFeatures(void* instance, void* physical_device); // VkInstance, VkPhysicalDevice
    // A VkPhysicalDeviceFeatures2 with its chain, for VkDeviceCreateInfo::pNext; lives as long as this.
    const void* chain() const;
    // For the library itself.
    const std::shared_ptr<void>& implementation() const { return implementation_; }

private:
    std::shared_ptr<void> implementation_;
};

// The application's own objects, for make_device().
struct Handles {
    void* instance = nullptr;        // VkInstance; all four outlive the Device that is made on them
    void* physical_device = nullptr; // VkPhysicalDevice
    void* device = nullptr;          // VkDevice
    void* queue = nullptr;           // VkQueue, with compute and transfer
    std::uint32_t queue_family = 0;  // the queue's
    // What the VkDevice was made with; null: the required features and nothing else, with which most of the
    // library's kernels are refused: they see the device's memory through an array of 16 storage buffers.
    const RequiredFeatures* enabled = nullptr;
    // Where the application submits to the queue as well: called before each of our submissions.  May be null.
    std::function<void()> lock_queue{};
    std::function<void()> unlock_queue{}; // called behind each of them
};

// Throws Error(unsupported) where the device lacks something, Error(argument) for null handles.
Device make_device(const Handles&);

} // namespace reprise::vulkan
