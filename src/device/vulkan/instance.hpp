// The Vulkan loader and an instance, ours or the application's.
#pragma once
#include "device/options.hpp"
#include <memory>
#include <vector>
#include <volk.h>

namespace reprise::device::vulkan {

// The functions of one instance.
struct InstanceFunctions {
#define RP_INSTANCE_FUNCTION(name) PFN_##name name = nullptr;
#include "device/vulkan/instance_functions.def"
#undef RP_INSTANCE_FUNCTION
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
    bool names_objects() const noexcept { return debug_utils_; }
    std::vector<VkPhysicalDevice> physical_devices() const;
    bool has_device_extension(VkPhysicalDevice, const char* name) const;
    void abandon() noexcept; // is not destroyed
    // All functions of a device, called without the loader in between.
    VolkDeviceTable device_functions(VkDevice) const;

private:
    using Sink = std::function<void(const std::string&)>;
    Instance(VkInstance, bool owned, bool debug_utils);
    void listen();

    VkInstance handle_;
    bool owned_, debug_utils_; // debug_utils: ours, with VK_EXT_debug_utils
    InstanceFunctions functions_;
    std::unique_ptr<Sink> messages_; // the driver holds its address until the instance is gone
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
};

} // namespace reprise::device::vulkan
