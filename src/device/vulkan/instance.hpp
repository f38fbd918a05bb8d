// The Vulkan loader and a VkInstance, owned by the library or by the application.
#pragma once
#include "device/options.hpp"
#include <memory>
#include <vector>
#include <volk.h>

namespace reprise::device::vulkan {

// The functions of one instance, resolved with vkGetInstanceProcAddr.
struct InstanceFunctions {
#define RP_INSTANCE_FUNCTION(name) PFN_##name name = nullptr;
#include "device/vulkan/instance_functions.def"
#undef RP_INSTANCE_FUNCTION
};

class Instance {
public:
    // Throws Error(device) if there is no loader, no driver or no Vulkan 1.2, Error(unsupported) if the validation
    // layer is requested but not installed.
    static std::shared_ptr<Instance> make(const DeviceOptions&);
    // Wraps the application's own instance, which outlives this object.
    static std::shared_ptr<Instance> adopt(VkInstance);

    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    VkInstance handle() const noexcept { return handle_; }
    const InstanceFunctions& functions() const noexcept { return functions_; }
    bool names_objects() const noexcept { return debug_utils_; }
    std::vector<VkPhysicalDevice> physical_devices() const;
    bool has_device_extension(VkPhysicalDevice, const char* name) const;
    void abandon() noexcept; // leaves the VkInstance undestroyed
    // Returns all functions of a device, for calls that bypass the loader's dispatch.
    VolkDeviceTable device_functions(VkDevice) const;

private:
    using Sink = std::function<void(const std::string&)>;
    Instance(VkInstance, bool owned, bool debug_utils);
    void listen();

    VkInstance handle_;
    bool owned_, debug_utils_; // debug_utils: the instance is owned, with VK_EXT_debug_utils
    InstanceFunctions functions_;
    std::unique_ptr<Sink> messages_; // the driver holds its address until the instance is destroyed
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
};

} // namespace reprise::device::vulkan
