// Command buffers that live and end together, and a store of such arenas for reuse.
#pragma once
#include "device/vulkan/logical_device.hpp"
#include <mutex>

namespace reprise::device::vulkan {

// A VkCommandPool; used by one thread at a time.
class CommandArena {
public:
    explicit CommandArena(const LogicalDevice&);
    ~CommandArena();
    CommandArena(const CommandArena&) = delete;
    CommandArena& operator=(const CommandArena&) = delete;

    VkCommandBuffer begin(VkCommandBufferUsageFlags); // the next one, opened
    void end(VkCommandBuffer);
    bool reset() noexcept; // false: it is of no more use
    std::size_t size() const noexcept { return lists_.size(); }

private:
    const LogicalDevice& device_;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    std::vector<VkCommandBuffer> lists_;
    std::size_t used_ = 0;
};

class CommandArenas {
public:
    explicit CommandArenas(const LogicalDevice& device) : device_(device) {}

    struct GiveBack {
        CommandArenas* owner = nullptr;
        void operator()(CommandArena*) const noexcept;
    };
    using Lease = std::unique_ptr<CommandArena, GiveBack>; // given back when the device has done with it

    Lease take();

private:
    const LogicalDevice& device_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<CommandArena>> spare_;
};

} // namespace reprise::device::vulkan
