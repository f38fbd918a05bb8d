// Splits the launches of a recording into command buffers: larger ones cost less, smaller ones fit slices better.
#pragma once
#include <cstdint>
#include <vector>

namespace reprise::device::vulkan {

inline constexpr std::uint32_t segment_launches = 64; // at most
inline constexpr std::uint32_t segment_aim = 48;      // without slices

struct Segment {
    std::uint32_t first, last; // launches [first, last)
};

// `aim`: the number of launches from which on the next epoch begins a new segment.  A launch that is `cut` begins one.
template <class Launches>
std::vector<Segment> split_into_segments(const Launches& launches, std::uint32_t aim = segment_aim)
{
    std::vector<Segment> segments;
    std::uint32_t first = 0;
    const auto count = static_cast<std::uint32_t>(launches.size());
    for (std::uint32_t i = 1; i <= count; ++i) {
        const bool epoch_ends = i < count && launches[i].epoch != launches[i - 1].epoch;
        if (i == count || launches[i].cut || i - first == segment_launches ||
            (epoch_ends && i - first >= aim)) {
            segments.push_back({first, i});
            first = i;
        }
    }
    return segments;
}

} // namespace reprise::device::vulkan
