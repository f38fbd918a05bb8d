// Timestamps of one recording: a begin and an end for each slot and, if requested, one for each launch.
#pragma once
#include "device/vulkan/buffer.hpp"

namespace reprise::device::vulkan {

class Timestamps {
public:
    // `launches`: number of launches with timestamps; 0: none.
    Timestamps(const LogicalDevice&, SlicePool& readback, std::uint32_t slots, std::uint32_t launches);
    Timestamps(const Timestamps&) = delete;
    Timestamps& operator=(const Timestamps&) = delete;

    // Resets the queries of the slot and of the launches first.
    void write_begin(VkCommandBuffer, std::uint32_t slot) const;
    void write_launch(VkCommandBuffer, std::uint32_t launch) const;
    void write_end(VkCommandBuffer, std::uint32_t slot) const; // and copies all timestamps to host memory

    // Both are in nanoseconds and valid once the ticket of the slot's last call is done.
    double duration(std::uint32_t slot) const;
    std::vector<double> launches(std::uint32_t slot) const; // from the call's start; last: its end

private:
    void write(VkCommandBuffer, std::uint32_t query) const;
    double between(std::uint64_t from, std::uint64_t to) const;
    const std::uint64_t* values(std::uint32_t slot) const; // begin, end, launches...
    std::uint64_t slot_bytes() const { return (2 + std::uint64_t{launches_}) * 8; }

    const LogicalDevice& device_;
    std::uint32_t slots_, launches_;
    CountedObject counted_{device_};
    Owned<VkQueryPool, &VolkDeviceTable::vkDestroyQueryPool> pool_{device_};
    Slice values_;
};

} // namespace reprise::device::vulkan
