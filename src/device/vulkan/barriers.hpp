// The barriers of the replay protocol: global memory barriers, never barriers for a range.
#pragma once
#include "device/vulkan/logical_device.hpp"

namespace reprise::device::vulkan {

inline void barrier(const LogicalDevice& device, VkCommandBuffer list, VkPipelineStageFlags from,
                    VkAccessFlags writes, VkPipelineStageFlags to, VkAccessFlags accesses)
{
    const VkMemoryBarrier memory{
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = writes, .dstAccessMask = accesses};
    device.vk.vkCmdPipelineBarrier(list, from, to, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

// Orders all earlier commands before all later ones.
inline void full_barrier(const LogicalDevice& device, VkCommandBuffer list)
{
    barrier(device, list, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
            VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
}

inline void epoch_barrier(const LogicalDevice& device, VkCommandBuffer list)
{
    barrier(device, list, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

// Makes device writes visible to the host, which waiting for a semaphore does not do.
inline void host_barrier(const LogicalDevice& device, VkCommandBuffer list)
{
    barrier(device, list, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
            VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT,
            VK_ACCESS_HOST_READ_BIT);
}

// Makes what a host call has written visible to kernels.
inline void host_call_barrier(const LogicalDevice& device, VkCommandBuffer list)
{
    barrier(device, list, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_WRITE_BIT,
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

} // namespace reprise::device::vulkan
