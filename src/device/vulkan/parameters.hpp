// The parameter block of a recording: for each launch, its indirect dispatch arguments followed by its record.
#pragma once
#include "device/records.hpp"

namespace reprise::device::vulkan {

// A number of workgroups in two dimensions of at most 65,535: x * y >= groups, kernels ignore the surplus.
struct Grid {
    std::uint32_t x = 0, y = 0, z = 0;
};
Grid fold(std::uint64_t groups); // throws Error(argument) above 65,535 squared

// Stores the indirect dispatch arguments in the head of each record.
class Parameters : public Records {
public:
    explicit Parameters(std::span<const LaunchDeclaration> launches) : Records(launches, grid_bytes) {}

    // Writes one launch to the block at `block`, without reading the block.
    Grid write(std::byte* block, std::uint32_t launch, const LaunchArguments&, Address slab,
               std::uint64_t slab_bytes) const;

private:
    static constexpr std::uint64_t grid_bytes = 16;
};

} // namespace reprise::device::vulkan
