// Command buffers of one command pool, which are reset together, and a store of such arenas for reuse.
#pragma once
#include "device/vulkan/logical_device.hpp"
#include <atomic>
#include <deque>
#include <mutex>

namespace reprise::device::vulkan {

// Numbers of command buffers that were begun, by their contents.
struct Begun {
    std::atomic<std::uint64_t> launches = 0, copies = 0;
};

// A VkCommandPool; used by one thread at a time.
class CommandArena {
public:
    CommandArena(const LogicalDevice&, Begun&);
    CommandArena(const CommandArena&) = delete;
    CommandArena& operator=(const CommandArena&) = delete;

    enum class Holds : std::uint8_t { launches, copies };
    VkCommandBuffer begin(VkCommandBufferUsageFlags, Holds); // the next one, in the recording state
    void end(VkCommandBuffer);
    bool reset() noexcept; // false: it can't be reused
    std::size_t size() const noexcept { return lists_.size(); }

private:
    const LogicalDevice& device_;
    Begun& begun_;
    Owned<VkCommandPool, &VolkDeviceTable::vkDestroyCommandPool> pool_{device_};
    CountedObject counted_{device_};
    std::vector<VkCommandBuffer> lists_;
    std::deque<CountedObject> counted_lists_;
    std::size_t used_ = 0;
};

class CommandArenas {
public:
    explicit CommandArenas(const LogicalDevice& device) : device_(device) {}

    struct GiveBack {
        CommandArenas* owner = nullptr;
        void operator()(CommandArena*) const noexcept;
    };
    using Lease = std::unique_ptr<CommandArena, GiveBack>; // returned once the device has finished with it

    Lease take();
    const Begun& begun() const noexcept { return begun_; }

private:
    const LogicalDevice& device_;
    Begun begun_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<CommandArena>> spare_;
};

} // namespace reprise::device::vulkan
