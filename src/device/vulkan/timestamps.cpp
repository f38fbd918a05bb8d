#include "device/vulkan/timestamps.hpp"
#include <cstring>

namespace reprise::device::vulkan {

Timestamps::Timestamps(const LogicalDevice& device, SlicePool& readback, std::uint32_t slots,
                       std::uint32_t marks)
    : device_(device), slots_(slots), marks_(marks), values_(readback.allocate(slots * slot_bytes()))
{
    std::memset(values_.host(), 0, values_.bytes());
    const VkQueryPoolCreateInfo info{.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                     .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                     .queryCount = 2 * slots + marks};
    pool_.create("record", "vkCreateQueryPool", &VolkDeviceTable::vkCreateQueryPool, info);
}

void Timestamps::write(VkCommandBuffer list, std::uint32_t query) const
{
    device_.vk.vkCmdWriteTimestamp(list, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, pool_.get(), query);
}

void Timestamps::write_begin(VkCommandBuffer list, std::uint32_t slot) const
{
    device_.vk.vkCmdResetQueryPool(list, pool_.get(), 2 * slot, 2);
    if (marks_ > 0) {
        device_.vk.vkCmdResetQueryPool(list, pool_.get(), 2 * slots_, marks_);
    }
    write(list, 2 * slot);
}

void Timestamps::write_mark(VkCommandBuffer list, std::uint32_t mark) const
{
    write(list, 2 * slots_ + mark);
}

void Timestamps::write_end(VkCommandBuffer list, std::uint32_t slot, std::uint32_t marks) const
{
    write(list, 2 * slot + 1);
    const VkQueryResultFlags flags = VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT;
    const std::uint64_t at = values_.offset() + slot * slot_bytes();
    device_.vk.vkCmdCopyQueryPoolResults(list, pool_.get(), 2 * slot, 2, buffer_of(values_), at, 8, flags);
    if (marks > 0) {
        device_.vk.vkCmdCopyQueryPoolResults(list, pool_.get(), 2 * slots_, marks, buffer_of(values_),
                                             at + 16, 8, flags);
    }
}

const std::uint64_t* Timestamps::values(std::uint32_t slot) const
{
    return reinterpret_cast<const std::uint64_t*>(values_.host() + slot * slot_bytes());
}

double Timestamps::between(std::uint64_t from, std::uint64_t to) const
{
    const std::uint32_t bits = device_.physical().timestamp_bits;
    const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    return static_cast<double>((to - from) & mask) * device_.physical().properties.limits.timestampPeriod;
}

double Timestamps::duration(std::uint32_t slot) const { return between(values(slot)[0], values(slot)[1]); }

double Timestamps::mark(std::uint32_t slot, std::uint32_t mark) const
{
    return between(values(slot)[0], values(slot)[2 + mark]);
}

std::vector<double> Timestamps::marks(std::uint32_t slot, std::uint32_t count) const
{
    std::vector<double> list;
    list.reserve(count + 1);
    for (std::uint32_t i = 0; i < count; ++i) {
        list.push_back(mark(slot, i));
    }
    list.push_back(duration(slot));
    return list;
}

} // namespace reprise::device::vulkan
