#include "device/vulkan/physical_device.hpp"
#include <algorithm>
#include <cstring>
#include <reprise/error.hpp>

namespace reprise::device::vulkan {

namespace {

struct FeatureRow {
    const char* name;
    bool required;
    VkBool32& (*of)(FeatureChain&);
};

// The features that kernels may use.  The required ones are the baseline.  If another feature is missing, kernels that
// need it are refused, or a fallback runs.
constexpr FeatureRow feature_rows[] = {
    {"bufferDeviceAddress", true, [](FeatureChain& f) -> VkBool32& { return f.v12.bufferDeviceAddress; }},
    {"timelineSemaphore", true, [](FeatureChain& f) -> VkBool32& { return f.v12.timelineSemaphore; }},
    {"shaderStorageBufferArrayDynamicIndexing", false,
     [](FeatureChain& f) -> VkBool32& { return f.core.features.shaderStorageBufferArrayDynamicIndexing; }},
    {"shaderFloat64", false, [](FeatureChain& f) -> VkBool32& { return f.core.features.shaderFloat64; }},
    {"shaderInt64", false, [](FeatureChain& f) -> VkBool32& { return f.core.features.shaderInt64; }},
    {"shaderInt16", false, [](FeatureChain& f) -> VkBool32& { return f.core.features.shaderInt16; }},
    {"storageBuffer16BitAccess", false,
     [](FeatureChain& f) -> VkBool32& { return f.v11.storageBuffer16BitAccess; }},
    {"storageBuffer8BitAccess", false,
     [](FeatureChain& f) -> VkBool32& { return f.v12.storageBuffer8BitAccess; }},
    {"shaderFloat16", false, [](FeatureChain& f) -> VkBool32& { return f.v12.shaderFloat16; }},
    {"shaderInt8", false, [](FeatureChain& f) -> VkBool32& { return f.v12.shaderInt8; }},
    {"shaderSubgroupExtendedTypes", false,
     [](FeatureChain& f) -> VkBool32& { return f.v12.shaderSubgroupExtendedTypes; }},
    {"scalarBlockLayout", false, [](FeatureChain& f) -> VkBool32& { return f.v12.scalarBlockLayout; }},
    {"vulkanMemoryModel", false, [](FeatureChain& f) -> VkBool32& { return f.v12.vulkanMemoryModel; }},
    {"vulkanMemoryModelDeviceScope", false,
     [](FeatureChain& f) -> VkBool32& { return f.v12.vulkanMemoryModelDeviceScope; }},
};

const FeatureRow& row(const char* feature)
{
    for (const FeatureRow& r : feature_rows) {
        if (std::strcmp(r.name, feature) == 0) {
            return r;
        }
    }
    reprise::detail::fail(ErrorKind::internal, "vulkan", "The feature (", feature, ") is in no row.");
}

std::vector<VkQueueFamilyProperties> queue_families(const Instance& instance, VkPhysicalDevice device)
{
    std::uint32_t count = 0;
    const auto query = instance.functions().vkGetPhysicalDeviceQueueFamilyProperties;
    query(device, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    query(device, &count, families.data());
    return families;
}

// Prefers a compute-only family: its jobs do not wait for graphics work and do not delay it.
void choose_queue_family(const Instance& instance, PhysicalDevice& d)
{
    const std::vector<VkQueueFamilyProperties> families = queue_families(instance, d.handle);
    const auto count = static_cast<std::uint32_t>(families.size());
    std::uint32_t chosen = count;
    for (std::uint32_t i = 0; i < count; ++i) {
        const VkQueueFlags flags = families[i].queueFlags;
        if (families[i].queueCount == 0 || !(flags & VK_QUEUE_COMPUTE_BIT)) {
            continue;
        }
        const bool alone = !(flags & VK_QUEUE_GRAPHICS_BIT) && families[i].timestampValidBits > 0;
        if (alone || chosen == count) {
            chosen = i;
            if (alone) {
                break;
            }
        }
    }
    if (chosen == count) {
        d.refusals.push_back("No queue family computes.");
        return;
    }
    d.queue_family = chosen;
    d.timestamp_bits = families[chosen].timestampValidBits;
}

int rank(const PhysicalDevice& d)
{
    if (!d.refusals.empty()) {
        return 100;
    }
    switch (d.properties.deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU: return d.is(VK_DRIVER_ID_GOOGLE_SWIFTSHADER) ? 5 : 4;
    default: return 3;
    }
}

} // namespace

VkPhysicalDeviceFeatures2* FeatureChain::head()
{
    core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    core.pNext = &v11;
    v11.pNext = &v12;
    v12.pNext = nullptr;
    return &core;
}

FeatureRequest::FeatureRequest(FeatureChain supported)
{
    for (const FeatureRow& r : feature_rows) {
        r.of(enabled_) = r.of(supported);
        if (r.required && r.of(supported) != VK_TRUE) {
            missing_.push_back(r.name);
        }
    }
}

bool FeatureRequest::has(const char* feature) const
{
    FeatureChain copy = enabled_;
    return row(feature).of(copy) == VK_TRUE;
}

void FeatureRequest::restrict_to(const FeatureChain* given)
{
    FeatureChain copy = given ? *given : FeatureChain{};
    for (const FeatureRow& r : feature_rows) {
        const bool enabled = given ? r.of(copy) == VK_TRUE : r.required;
        r.of(enabled_) = r.of(enabled_) && enabled ? VK_TRUE : VK_FALSE;
        if (r.required && !enabled) {
            missing_.push_back(r.name);
        }
    }
}

std::uint64_t PhysicalDevice::heap_bytes() const
{
    std::uint64_t largest = 0;
    for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
        if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) {
            largest = std::max<std::uint64_t>(largest, memory.memoryHeaps[i].size);
        }
    }
    return largest;
}

std::vector<std::uint32_t> widths_without_preserve_mode(const PhysicalDevice& d)
{
    std::vector<std::uint32_t> widths;
    if (!d.v12.shaderSignedZeroInfNanPreserveFloat32) {
        widths.push_back(32);
    }
    if (!d.v12.shaderSignedZeroInfNanPreserveFloat64) {
        widths.push_back(64);
    }
    return widths;
}

void use_queue_family(const Instance& instance, PhysicalDevice& d, std::uint32_t family)
{
    const std::vector<VkQueueFamilyProperties> families = queue_families(instance, d.handle);
    if (family >= families.size() || !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT)) {
        reprise::detail::fail(ErrorKind::argument, "vulkan", "The queue family (", family, ") of ",
                              d.properties.deviceName, " does not compute.");
    }
    d.queue_family = family;
    d.timestamp_bits = families[family].timestampValidBits;
}

// AMD's and NVIDIA's drivers tell the number.
std::uint32_t compute_units_of(const Instance& instance, VkPhysicalDevice handle)
{
    VkPhysicalDeviceShaderCorePropertiesAMD amd{
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD};
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nvidia{
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV};
    VkPhysicalDeviceProperties2 query{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    if (instance.has_device_extension(handle, VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME)) {
        query.pNext = &amd;
    } else if (instance.has_device_extension(handle, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME)) {
        query.pNext = &nvidia;
    } else {
        return 0;
    }
    instance.functions().vkGetPhysicalDeviceProperties2(handle, &query);
    return amd.shaderEngineCount * amd.shaderArraysPerEngineCount * amd.computeUnitsPerShaderArray +
           nvidia.shaderSMCount;
}

PhysicalDevice inspect(const Instance& instance, VkPhysicalDevice handle)
{
    PhysicalDevice d;
    d.handle = handle;
    VkPhysicalDeviceProperties2 query{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    instance.functions().vkGetPhysicalDeviceProperties2(handle, &query);
    d.properties = query.properties;
    instance.functions().vkGetPhysicalDeviceMemoryProperties(handle, &d.memory);
    if (d.properties.apiVersion < VK_API_VERSION_1_2) {
        d.refusals.push_back(
            "Its driver knows Vulkan " + std::to_string(VK_API_VERSION_MAJOR(d.properties.apiVersion)) + "." +
            std::to_string(VK_API_VERSION_MINOR(d.properties.apiVersion)) + " and 1.2 is needed: update it.");
        return d;
    }
    d.v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
    d.v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
    query.pNext = &d.v11;
    d.v11.pNext = &d.v12;
    instance.functions().vkGetPhysicalDeviceProperties2(handle, &query);
    d.v11.pNext = nullptr;
    FeatureChain supported;
    instance.functions().vkGetPhysicalDeviceFeatures2(handle, supported.head());
    d.features = FeatureRequest(supported);
    for (const std::string& name : d.features.missing()) {
        d.refusals.push_back("It lacks the feature " + name + ".");
    }
    choose_queue_family(instance, d);
    if (d.features.has("vulkanMemoryModel") && d.features.has("storageBuffer16BitAccess")) {
        d.matrices =
            cooperative_matrices(instance, handle, d.v11.subgroupSize, d.features.has("shaderFloat16"));
    }
    d.compute_units = compute_units_of(instance, handle);
    d.portability_subset = instance.has_device_extension(handle, "VK_KHR_portability_subset");
    d.memory_budget = instance.has_device_extension(handle, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    return d;
}

std::vector<PhysicalDevice> inspect_all(const Instance& instance)
{
    std::vector<PhysicalDevice> list;
    for (VkPhysicalDevice handle : instance.physical_devices()) {
        list.push_back(inspect(instance, handle));
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const PhysicalDevice& a, const PhysicalDevice& b) { return rank(a) < rank(b); });
    return list;
}

std::string joined(const std::vector<std::string>& sentences)
{
    std::string text;
    for (const std::string& s : sentences) {
        text += (text.empty() ? "" : " ") + s;
    }
    return text;
}

} // namespace reprise::device::vulkan
