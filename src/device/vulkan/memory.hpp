// Device memory: the slab and, when it is full, further blocks.
#pragma once
#include "device/block_memory.hpp"
#include "device/vulkan/slab.hpp"
#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace reprise::device::vulkan {

class DeviceMemory {
public:
    // `drain` submits what is pending and waits until the device is idle.
    DeviceMemory(const LogicalDevice&, const Slab&, std::uint64_t limit, std::function<void()> drain);

    SubAllocator::Allocation allocate(std::uint64_t bytes);
    void release(const SubAllocator::Allocation& a) noexcept { blocks_.release(a); }
    void set_limit(std::uint64_t bytes) { blocks_.set_limit(bytes); }
    void reset_peak() { blocks_.reset_peak(); }
    SubAllocator::Usage usage() const { return blocks_.usage(); }
    void verify() const { blocks_.verify(); }

    // The buffer range at a device address.
    struct Location {
        VkBuffer buffer = VK_NULL_HANDLE;
        std::uint64_t offset = 0, bytes = 0; // bytes: to the end of the range
        std::byte* host = nullptr;           // null: not mapped
        bool host_cached = false;            // the host can read it at full speed
    };
    // Throws Error(internal) if the range lies in no registered buffer.
    Location locate(Address, std::uint64_t bytes) const;
    // Registers ranges of other buffers for locate().  A range may be registered several times.
    void add_location(Address, const Location&);
    void remove_location(Address) noexcept;

private:
    BlockMemory::Source further_blocks(std::function<void()> drain, std::uint32_t memory_type);
    Address add_buffer(std::uint64_t bytes);
    void remove_buffer(Address) noexcept;

    const LogicalDevice& device_;
    mutable std::shared_mutex mutex_;
    std::map<Address, Location> locations_;              // blocks and added ranges
    std::map<Address, std::size_t> added_;               // how often each range is registered
    std::map<Address, std::unique_ptr<Buffer>> buffers_; // further blocks
    BlockMemory blocks_; // last member: its destructor frees blocks through the members above
};

} // namespace reprise::device::vulkan
