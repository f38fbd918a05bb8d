// The Vulkan loader and an instance, ours or the application's.
#pragma once
#include "device/options.hpp"
#include <memory>
#include <vector>
#include <volk.h>

namespace reprise::device::vulkan {

// The functions of one instance.
struct InstanceFunctions {
    PFN_vkDestroyInstance vkDestroyInstance = nullptr;
    PFN_vkEnumeratePhysicalDevices vkEnumeratePhysicalDevices = nullptr;
    PFN_vkGetPhysicalDeviceProperties2 vkGetPhysicalDeviceProperties2 = nullptr;
    PFN_vkGetPhysicalDeviceFeatures2 vkGetPhysicalDeviceFeatures2 = nullptr;
    PFN_vkGetPhysicalDeviceMemoryProperties vkGetPhysicalDeviceMemoryProperties = nullptr;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties vkGetPhysicalDeviceQueueFamilyProperties = nullptr;
    PFN_vkEnumerateDeviceExtensionProperties vkEnumerateDeviceExtensionProperties = nullptr;
    PFN_vkCreateDevice vkCreateDevice = nullptr;
    PFN_vkGetDeviceProcAddr vkGetDeviceProcAddr = nullptr;
    PFN_vkCreateDebugUtilsMessengerEXT vkCreateDebugUtilsMessengerEXT = nullptr; // null without debug_utils
    PFN_vkDestroyDebugUtilsMessengerEXT vkDestroyDebugUtilsMessengerEXT = nullptr;
    PFN_vkSetDebugUtilsObjectNameEXT vkSetDebugUtilsObjectNameEXT = nullptr;
    PFN_vkCmdBeginDebugUtilsLabelEXT vkCmdBeginDebugUtilsLabelEXT = nullptr;
    PFN_vkCmdEndDebugUtilsLabelEXT vkCmdEndDebugUtilsLabelEXT = nullptr;
};

class Instance {
public:
    // Throws Error(device) where there is no loader, no driver or no Vulkan 1.2, Error(unsupported) where the
    // validation layer is requested and absent.
    static std::shared_ptr<Instance> make(const DeviceOptions&);
    // The application's own; it outlives this object.
    static std::shared_ptr<Instance> adopt(VkInstance);

    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    VkInstance handle() const noexcept { return handle_; }
    const InstanceFunctions& functions() const noexcept { return functions_; }
    bool names_objects() const noexcept { return functions_.vkSetDebugUtilsObjectNameEXT != nullptr; }
    std::vector<VkPhysicalDevice> physical_devices() const;
    void abandon() noexcept; // is not destroyed
    // All functions of a device, called without the loader in between.
    VolkDeviceTable device_functions(VkDevice) const;

private:
    using Sink = std::function<void(const std::string&)>;
    Instance(VkInstance, bool owned, bool debug_utils);
    void listen();

    VkInstance handle_;
    bool owned_;
    InstanceFunctions functions_;
    std::unique_ptr<Sink> messages_; // the driver holds its address until the instance is gone
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
};

} // namespace reprise::device::vulkan
