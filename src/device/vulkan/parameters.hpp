// The parameter block of a recording: for each launch its indirect arguments and its record (shaders/common/
// abi.glsl), one after the other, so that the host writes it from front to back.
#pragma once
#include "device/device.hpp"

namespace reprise::device::vulkan {

// A flat count of workgroups on two axes of at most 65,535: x * y >= groups, kernels guard the surplus.
struct Grid {
    std::uint32_t x = 0, y = 0, z = 0;
};
Grid fold(std::uint64_t groups); // throws Error(argument) above 65,535 squared

class Parameters {
public:
    explicit Parameters(std::span<const LaunchDeclaration>);

    std::uint64_t bytes() const noexcept { return bytes_; }
    std::uint32_t launches() const noexcept { return static_cast<std::uint32_t>(entries_.size()); }
    std::uint64_t grid_offset(std::uint32_t launch) const { return entries_[launch].offset; }
    std::uint64_t record_offset(std::uint32_t launch) const { return entries_[launch].offset + grid_bytes; }

    // Writes one launch to the block at `block`, never reading it.
    Grid write(std::byte* block, std::uint32_t launch, const LaunchArguments&, Address slab,
               std::uint64_t slab_bytes) const;

private:
    static constexpr std::uint64_t grid_bytes = 16;
    struct Entry {
        std::uint64_t offset;
        std::uint32_t operands, floats, ints;
        bool doubles;
    };
    [[noreturn]] void fail_counts(std::uint32_t launch, const LaunchArguments&) const;

    std::vector<Entry> entries_;
    std::uint64_t bytes_ = 0;
};

} // namespace reprise::device::vulkan
