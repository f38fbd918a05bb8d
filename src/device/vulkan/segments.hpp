// How launches are cut into command buffers, and labels in them.
#pragma once
#include "device/vulkan/logical_device.hpp"
#include <span>

namespace reprise::device::vulkan {

inline constexpr std::uint32_t segment_launches = 64; // at most
inline constexpr std::uint32_t segment_aim = 48;      // from here on the next epoch begins a new one

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

// A launch's label, where the device was opened with labels.
class Label {
public:
    Label(const LogicalDevice& device, VkCommandBuffer list, const std::string& text)
        : functions_(text.empty() ? nullptr : device.labels()), list_(list)
    {
        if (functions_) {
            const VkDebugUtilsLabelEXT label{.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
                                             .pLabelName = text.c_str()};
            functions_->vkCmdBeginDebugUtilsLabelEXT(list_, &label);
        }
    }
    ~Label()
    {
        if (functions_) {
            functions_->vkCmdEndDebugUtilsLabelEXT(list_);
        }
    }
    Label(const Label&) = delete;
    Label& operator=(const Label&) = delete;

private:
    const InstanceFunctions* functions_;
    VkCommandBuffer list_;
};

} // namespace reprise::device::vulkan
