#include "device/vulkan/command_arena.hpp"

namespace reprise::device::vulkan {

namespace {
constexpr std::size_t spare_arenas = 64; // more arenas, and larger ones, are destroyed
constexpr std::size_t largest_spare = 8; // command buffers
} // namespace

CommandArena::CommandArena(const LogicalDevice& device, Begun& begun) : device_(device), begun_(begun)
{
    const VkCommandPoolCreateInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                       .queueFamilyIndex = device_.queue_family()};
    pool_.create("record", "vkCreateCommandPool", &VolkDeviceTable::vkCreateCommandPool, info);
}

VkCommandBuffer CommandArena::begin(VkCommandBufferUsageFlags flags, Holds holds)
{
    if (used_ == lists_.size()) {
        lists_.reserve(used_ + 1);
        const VkCommandBufferAllocateInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                               .commandPool = pool_.get(),
                                               .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                               .commandBufferCount = 1};
        VkCommandBuffer list = VK_NULL_HANDLE;
        device_.check("record", "vkAllocateCommandBuffers",
                      [&] { return device_.vk.vkAllocateCommandBuffers(device_.handle(), &info, &list); });
        lists_.push_back(list);
        counted_lists_.emplace_back(device_);
    }
    const VkCommandBuffer list = lists_[used_++];
    const VkCommandBufferBeginInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, .flags = flags};
    device_.check("record", "vkBeginCommandBuffer",
                  [&] { return device_.vk.vkBeginCommandBuffer(list, &info); });
    (holds == Holds::launches ? begun_.launches : begun_.copies).fetch_add(1, std::memory_order_relaxed);
    return list;
}

void CommandArena::end(VkCommandBuffer list)
{
    device_.check("record", "vkEndCommandBuffer", [&] { return device_.vk.vkEndCommandBuffer(list); });
}

bool CommandArena::reset() noexcept
{
    used_ = 0;
    return device_.vk.vkResetCommandPool(device_.handle(), pool_.get(), 0) == VK_SUCCESS;
}

CommandArenas::Lease CommandArenas::take()
{
    {
        const std::lock_guard lock(mutex_);
        if (!spare_.empty()) {
            CommandArena* const arena = spare_.back().release();
            spare_.pop_back();
            return {arena, {this}};
        }
    }
    return {new CommandArena(device_, begun_), {this}};
}

void CommandArenas::GiveBack::operator()(CommandArena* raw) const noexcept
{
    std::unique_ptr<CommandArena> arena(raw);
    if (arena->size() > largest_spare || !arena->reset()) {
        return;
    }
    try {
        const std::lock_guard lock(owner->mutex_);
        if (owner->spare_.size() < spare_arenas) {
            owner->spare_.push_back(std::move(arena));
        }
    } catch (...) { // no memory for the list: the arena is destroyed
    }
}

} // namespace reprise::device::vulkan
