#include "device/vulkan/workarounds.hpp"
#include "device/vulkan/physical_device.hpp"
#include <algorithm>

namespace reprise::device::vulkan {

namespace {

constexpr const char* llvmpipe_source =
    "https://gitlab.freedesktop.org/mesa/mesa/-/blob/main/src/gallium/drivers/llvmpipe/lp_state_cs.c";
constexpr const char* swiftshader_memory =
    "https://github.com/google/swiftshader/blob/master/src/Vulkan/VkDeviceMemory.cpp";
constexpr Workaround rows[] = {
    {VK_DRIVER_ID_MESA_LLVMPIPE, Quirk::compiles_at_first_dispatch,
     "A recording ends with one submission of itself with no groups.",
     "vkCreateComputePipelines compiles nothing; the first dispatch does, 12 to 67 ms each.",
     llvmpipe_source},
    {VK_DRIVER_ID_MESA_LLVMPIPE, Quirk::texel_loads_are_wide,
     "Kernels that read through the texel view are preferred.",
     "A load by address is a loop over lanes, a fetch from an RGBA32F texel buffer is one wide load.",
     llvmpipe_source},
    {VK_DRIVER_ID_MESA_LLVMPIPE, Quirk::miscompiles_signed_selects,
     "The math library chooses between numbers before it gives them a sign; a probe warns when the device is "
     "opened.",
     "Lavapipe 25.0 to 26.2 on CPUs with AVX-512 computes `c ? copysign(y, x) : x` as `c ? x & ~y : x`. The "
     "environment variable GALLIUM_OVERRIDE_CPU_CAPS=avx prevents it.",
     llvmpipe_source},
    {VK_DRIVER_ID_GOOGLE_SWIFTSHADER, Quirk::writes_what_it_allocates,
     "The slab has 128 MiB, and its texel view covers none but the first 65,536 texels.",
     "vkAllocateMemory writes all of it: 512 MiB take 512 MiB of memory and 0.3 s; a texel buffer ends at "
     "65,536 texels.",
     swiftshader_memory},
};

} // namespace

std::span<const Workaround> workarounds() { return rows; }

bool has_quirk(const PhysicalDevice& device, Quirk quirk)
{
    return std::any_of(std::begin(rows), std::end(rows),
                       [&](const Workaround& row) { return device.is(row.driver) && row.quirk == quirk; });
}

} // namespace reprise::device::vulkan
