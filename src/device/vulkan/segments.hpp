// Splits the launches of a recording into command buffers.
#pragma once
#include "device/device.hpp"
#include <span>

namespace reprise::device::vulkan {

inline constexpr std::uint32_t segment_launches = 64; // at most
inline constexpr std::uint32_t segment_aim = 48;      // from here on, the next epoch begins a new segment

struct Segment {
    std::uint32_t first, last; // launches [first, last)
};

inline std::vector<Segment> split_into_segments(std::span<const LaunchDeclaration> launches)
{
    std::vector<Segment> segments;
    std::uint32_t first = 0;
    const auto count = static_cast<std::uint32_t>(launches.size());
    for (std::uint32_t i = 1; i <= count; ++i) {
        const bool epoch_ends = i < count && launches[i].epoch != launches[i - 1].epoch;
        if (i == count || i - first == segment_launches || (epoch_ends && i - first >= segment_aim)) {
            segments.push_back({first, i});
            first = i;
        }
    }
    return segments;
}

} // namespace reprise::device::vulkan
