// What a driver's device is and can do, and why it is refused.
#pragma once
#include "device/vulkan/instance.hpp"
#include <string>

namespace reprise::device::vulkan {

// The feature structures of Vulkan 1.2.  Copies lose the chain: head() makes it anew.
struct FeatureChain {
    VkPhysicalDeviceFeatures2 core{};
    VkPhysicalDeviceVulkan11Features v11{};
    VkPhysicalDeviceVulkan12Features v12{};

    // For VkDeviceCreateInfo::pNext and vkGetPhysicalDeviceFeatures2.
    VkPhysicalDeviceFeatures2* head();
};

// What is requested of a device: the features that kernels may use, as far as it has them.
class FeatureRequest {
public:
    FeatureRequest() = default;
    explicit FeatureRequest(FeatureChain supported);

    bool has(const char* feature) const; // supported and requested, by its Vulkan name

    const std::vector<std::string>& missing() const noexcept { return missing_; } // required ones
    const FeatureChain& enabled() const noexcept { return enabled_; }
    // Keeps of what is enabled only what `given` has, too; null: only what is required.  A required feature
    // that is not given is missing.
    void restrict_to(const FeatureChain* given);

private:
    FeatureChain enabled_;
    std::vector<std::string> missing_;
};

struct PhysicalDevice {
    VkPhysicalDevice handle = VK_NULL_HANDLE;
    VkPhysicalDeviceProperties properties{};
    VkPhysicalDeviceVulkan11Properties v11{};
    VkPhysicalDeviceVulkan12Properties v12{};
    VkPhysicalDeviceMemoryProperties memory{};
    FeatureRequest features;
    std::uint32_t queue_family = 0;
    std::uint32_t timestamp_bits = 0;  // of that family; 0: no timestamps
    bool portability_subset = false;   // must be enabled where it exists
    std::vector<std::string> refusals; // sentences; empty: it serves

    bool is(VkDriverId id) const noexcept { return v12.driverID == id; }
    bool is_cpu() const noexcept { return properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU; }
    bool is_unified() const noexcept // its memory is the host's
    {
        return is_cpu() || properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
    }
    std::uint64_t heap_bytes() const; // of the largest device-local heap
};

// Throws Error(argument) for a family that does not compute.
void use_queue_family(const Instance&, PhysicalDevice&, std::uint32_t family);

// Never throws for what the device lacks: see `refusals`.
PhysicalDevice inspect(const Instance&, VkPhysicalDevice);

// All of them, best first: discrete, integrated, virtual, CPU (lavapipe before SwiftShader); refused ones
// last.
std::vector<PhysicalDevice> inspect_all(const Instance&);

std::string joined(const std::vector<std::string>& sentences);

} // namespace reprise::device::vulkan
