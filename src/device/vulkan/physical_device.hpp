// The properties and features of a physical device, and the reasons why it is refused.
#pragma once
#include "device/vulkan/cooperative_matrix.hpp"
#include "device/vulkan/instance.hpp"
#include <string>
#include <vector>

namespace reprise::device::vulkan {

// The feature structures of Vulkan 1.2.  A copy does not have the pNext chain; head() links it again.
struct FeatureChain {
    VkPhysicalDeviceFeatures2 core{};
    VkPhysicalDeviceVulkan11Features v11{};
    VkPhysicalDeviceVulkan12Features v12{};

    // For VkDeviceCreateInfo::pNext and vkGetPhysicalDeviceFeatures2.
    VkPhysicalDeviceFeatures2* head();
};

// The features that are requested of a device: those that kernels may use, if it supports them.
class FeatureRequest {
public:
    FeatureRequest() = default;
    explicit FeatureRequest(FeatureChain supported);

    bool has(const char* feature) const; // `feature`: its Vulkan name; true if supported and requested

    const std::vector<std::string>& missing() const noexcept { return missing_; } // required, but unsupported
    const FeatureChain& enabled() const noexcept { return enabled_; }
    // Removes the features that `given` does not have; null: all but the required ones.  A required feature that
    // `given` does not have is added to missing().
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
    std::uint32_t timestamp_bits = 0; // of that family; 0: no timestamps
    std::uint32_t compute_units = 0;  // multiprocessors of a GPU; 0: unknown
    bool portability_subset = false;  // must be enabled if the extension exists
    bool memory_budget = false;       // the driver estimates the memory that is left for this process
    CooperativeMatrices matrices;
    std::vector<std::string> refusals; // sentences; empty: the device can be used

    bool is(VkDriverId id) const noexcept { return v12.driverID == id; }
    bool is_cpu() const noexcept { return properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU; }
    bool is_unified() const noexcept // its memory is the host's memory
    {
        return is_cpu() || properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
    }
    std::uint64_t heap_bytes() const; // of the largest device-local heap
};

// Returns the widths of floats, 32 or 64 bits, for which the device lacks the execution mode SignedZeroInfNanPreserve.
std::vector<std::uint32_t> widths_without_preserve_mode(const PhysicalDevice&);

// Throws Error(argument) if the queue family does not support compute.
void use_queue_family(const Instance&, PhysicalDevice&, std::uint32_t family);

// Does not throw if the device lacks something: see `refusals`.
PhysicalDevice inspect(const Instance&, VkPhysicalDevice);

// Returns all devices, best first: discrete, integrated, virtual, CPU (lavapipe before SwiftShader); refused ones last.
std::vector<PhysicalDevice> inspect_all(const Instance&);

std::string joined(const std::vector<std::string>& sentences);

} // namespace reprise::device::vulkan
