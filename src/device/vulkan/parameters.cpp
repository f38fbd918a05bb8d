#include "device/vulkan/parameters.hpp"
#include <cstring>
#include <reprise/error.hpp>

namespace reprise::device::vulkan {

namespace {

constexpr std::uint64_t axis = 65535; // maxComputeWorkGroupCount is at least this on every driver

struct GridRecord { // VkDispatchIndirectCommand
    std::uint32_t x, y, z, unused;
};

} // namespace

Grid fold(std::uint64_t groups)
{
    if (groups == 0) {
        return {};
    }
    if (groups <= axis) {
        return {static_cast<std::uint32_t>(groups), 1, 1};
    }
    if (groups > axis * axis) {
        reprise::detail::fail(ErrorKind::argument, "launch", "(", groups, ") workgroups are more than (",
                              axis * axis, "): split the launch.");
    }
    const std::uint64_t y = (groups + axis - 1) / axis;
    return {static_cast<std::uint32_t>((groups + y - 1) / y), static_cast<std::uint32_t>(y), 1};
}

Grid Parameters::write(std::byte* block, std::uint32_t launch, const LaunchArguments& a, Address slab,
                       std::uint64_t slab_bytes) const
{
    const Grid grid = fold(a.groups);
    Records::write(block, launch, a, slab, slab_bytes); // checks that the launch exists
    const GridRecord head{grid.x, grid.y, grid.z, 0};
    std::memcpy(block + head_offset(launch), &head, sizeof head);
    return grid;
}

} // namespace reprise::device::vulkan
