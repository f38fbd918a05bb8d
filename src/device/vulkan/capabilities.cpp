#include "device/vulkan/capabilities.hpp"
#include "base/parallel.hpp"
#include "base/process.hpp"
#include "device/native/tiles.hpp"
#include "device/vulkan/physical_device.hpp"
#include "device/vulkan/workarounds.hpp"

namespace reprise::device::vulkan {

namespace {

Kind kind_of(const PhysicalDevice& d)
{
    switch (d.properties.deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return Kind::discrete;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return Kind::integrated;
    case VK_PHYSICAL_DEVICE_TYPE_CPU: return Kind::cpu;
    default: return Kind::virtual_gpu;
    }
}

const char* shader_class_of(const PhysicalDevice& d)
{
    return d.is(VK_DRIVER_ID_MESA_LLVMPIPE)        ? "lavapipe"
           : d.is(VK_DRIVER_ID_GOOGLE_SWIFTSHADER) ? "swiftshader"
                                                   : "gpu";
}

// REPRISE_KERNELS, for tests: "gpu" chooses the kernels of GPUs on every Vulkan device, "cpu" those of CPUs without
// native code, "native" native code at all sizes.
void read_kernel_choice(Capabilities& c)
{
    const auto choice = reprise::detail::environment_variable("REPRISE_KERNELS");
    c.force_gpu_kernels = choice == "gpu";
    const bool may_compute = reprise::detail::may_start_threads() && !native::tiles().empty();
    if (c.kind != Kind::cpu || !may_compute || choice == "gpu" || choice == "cpu") return;
    c.native_from = choice == "native" ? 1 : native::default_native_from;
    reprise::detail::parallel_threads(); // reads its variable now
}

} // namespace

Capabilities capabilities_of(const PhysicalDevice& d, const std::string& id)
{
    Capabilities c;
    c.id = id;
    c.name = d.properties.deviceName;
    c.driver = std::string(d.v12.driverName) + " " + d.v12.driverInfo;
    c.kind = kind_of(d);
    c.memory_bytes = d.heap_bytes();
    c.memory_limit = c.memory_bytes / 10 * 9;
    c.subgroup_size = d.v11.subgroupSize;
    c.shared_bytes = d.properties.limits.maxComputeSharedMemorySize;
    c.workgroup_invocations = d.properties.limits.maxComputeWorkGroupInvocations;
    c.compute_units = d.compute_units;
    c.subgroup_shuffle = (d.v11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
                         (d.v11.subgroupSupportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) != 0;
    c.float16 = d.features.has("shaderFloat16");
    c.f16_matrix_side = d.matrices.f16_side;
    c.bf16_matrix_side = d.matrices.bf16_side;
    c.float64 = d.features.has("shaderFloat64");
    c.int64 = d.features.has("shaderInt64");
    c.timestamps = d.timestamp_bits > 0 && d.properties.limits.timestampPeriod > 0;
    read_kernel_choice(c);
    c.half_access = c.gpu_kernels() && d.features.has("storageBuffer16BitAccess");
    c.prefer_texels = has_quirk(d, Quirk::texel_loads_are_wide) && !c.force_gpu_kernels;
    c.shader_class = shader_class_of(d);
    const bool inspected = d.refusals.empty(); // of older drivers v12 is not known
    if (inspected && !d.v12.shaderSignedZeroInfNanPreserveFloat32) {
        c.warnings.push_back(
            "It lacks shaderSignedZeroInfNanPreserveFloat32: its compiler may lose the sign of zeros, "
            "infinities and NaN.");
    }
    if (inspected && c.float64 && !d.v12.shaderSignedZeroInfNanPreserveFloat64) {
        c.warnings.push_back(
            "It lacks shaderSignedZeroInfNanPreserveFloat64: in f64 its compiler may lose the sign of "
            "zeros, infinities and NaN.");
    }
    return c;
}

bool windows_allowed(const PhysicalDevice& d)
{
    const VkPhysicalDeviceLimits& limits = d.properties.limits;
    return d.features.has("shaderStorageBufferArrayDynamicIndexing") &&
           limits.maxPerStageDescriptorStorageBuffers >= window_count &&
           limits.maxDescriptorSetStorageBuffers >= window_count &&
           limits.maxPerStageResources >= window_count + 1 && limits.maxStorageBufferRange >= window_bytes;
}

} // namespace reprise::device::vulkan
