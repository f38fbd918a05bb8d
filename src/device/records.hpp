// The argument records of a recording's launches, as kernels read them (shaders/common/abi.glsl).  They lie one after
// the other in a block, so that the host writes it from front to back.
#pragma once
#include "device/device.hpp"

namespace reprise::device {

class Records {
public:
    // `head`: bytes preceding each record that the device uses itself, a multiple of 16.
    explicit Records(std::span<const LaunchDeclaration>, std::uint64_t head = 0);

    std::uint64_t bytes() const noexcept { return bytes_; }
    std::uint32_t launches() const noexcept { return static_cast<std::uint32_t>(entries_.size()); }
    std::uint64_t head_offset(std::uint32_t launch) const { return entries_[launch].offset; }
    std::uint64_t offset(std::uint32_t launch) const { return entries_[launch].offset + head_; }

    // Error(internal) if there is no such launch, or the arguments are not as many as it declares.
    void check(std::uint32_t launch, const LaunchArguments&) const;
    // Writes one launch's record to the block at `block`, without reading the block.  Texel indices count from `slab`.
    void write(std::byte* block, std::uint32_t launch, const LaunchArguments&, Address slab = 0,
               std::uint64_t slab_bytes = 0) const;

private:
    struct Entry {
        std::uint64_t offset;
        std::uint32_t operands, floats, ints;
        bool doubles;
    };
    [[noreturn]] void fail_counts(std::uint32_t launch, const LaunchArguments&) const;

    std::uint64_t head_;
    std::vector<Entry> entries_;
    std::uint64_t bytes_ = 0;
};

} // namespace reprise::device
