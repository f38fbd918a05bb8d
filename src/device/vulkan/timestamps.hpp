// Timestamps of one recording: a begin and an end for each slot, and marks that all slots share.
#pragma once
#include "device/vulkan/buffer.hpp"

namespace reprise::device::vulkan {

class Timestamps {
public:
    Timestamps(const LogicalDevice&, SlicePool& readback, std::uint32_t slots, std::uint32_t marks);
    Timestamps(const Timestamps&) = delete;
    Timestamps& operator=(const Timestamps&) = delete;

    // Resets the queries of the slot and of the marks first.
    void write_begin(VkCommandBuffer, std::uint32_t slot) const;
    void write_mark(VkCommandBuffer, std::uint32_t mark) const;
    // Copies the begin, the end and the first `marks` marks to host memory, which must have been written.
    void write_end(VkCommandBuffer, std::uint32_t slot, std::uint32_t marks) const;

    // Both are in nanoseconds and valid once the ticket of the slot's last call is done.
    double duration(std::uint32_t slot) const;
    double mark(std::uint32_t slot, std::uint32_t mark) const; // from the call's start
    // The first `count` marks, and at the end of the list the call's end.
    std::vector<double> marks(std::uint32_t slot, std::uint32_t count) const;

private:
    void write(VkCommandBuffer, std::uint32_t query) const;
    double between(std::uint64_t from, std::uint64_t to) const;
    const std::uint64_t* values(std::uint32_t slot) const; // begin, end, marks...
    std::uint64_t slot_bytes() const { return (2 + std::uint64_t{marks_}) * 8; }

    const LogicalDevice& device_;
    std::uint32_t slots_, marks_;
    CountedObject counted_{device_};
    Owned<VkQueryPool, &VolkDeviceTable::vkDestroyQueryPool> pool_{device_};
    Slice values_;
};

} // namespace reprise::device::vulkan
