// Barriers of a command buffer.
#pragma once
#include "vk.hpp"

namespace desktop {

// Accesses of some stages.
struct Use {
    VkPipelineStageFlags stages;
    VkAccessFlags access;
};

// Orders all memory: `after` waits for `before`.
inline void barrier(VkCommandBuffer commands, const Use& before, const Use& after)
{
    VkMemoryBarrier memory{.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    memory.srcAccessMask = before.access;
    memory.dstAccessMask = after.access;
    vkCmdPipelineBarrier(commands, before.stages, after.stages, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

// Orders the uses of an image, and changes its layout.
inline void barrier(VkCommandBuffer commands, VkImage image, const Use& before, VkImageLayout from,
                    const Use& after, VkImageLayout to)
{
    VkImageMemoryBarrier memory{.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
    memory.srcAccessMask = before.access;
    memory.dstAccessMask = after.access;
    memory.oldLayout = from;
    memory.newLayout = to;
    memory.srcQueueFamilyIndex = memory.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    memory.image = image;
    memory.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vkCmdPipelineBarrier(commands, before.stages, after.stages, 0, 0, nullptr, 0, nullptr, 1, &memory);
}

} // namespace desktop
