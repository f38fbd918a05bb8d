// Device memory: the slab and, when it is full, further blocks, dealt out by the sub-allocator within a
// limit.
#pragma once
#include "device/suballocator.hpp"
#include "device/vulkan/slab.hpp"
#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace reprise::device::vulkan {

class DeviceMemory {
public:
    // `drain` submits what waits for submission and waits until the device is idle.
    DeviceMemory(const LogicalDevice&, const Slab&, std::uint64_t limit, std::function<void()> drain);

    SubAllocator::Allocation allocate(std::uint64_t bytes);
    void release(const SubAllocator::Allocation& a) noexcept { ranges_.release(a); }
    void set_limit(std::uint64_t bytes) { ranges_.set_limit(bytes); }
    void reset_peak() { ranges_.reset_peak(); }
    SubAllocator::Usage usage() const { return ranges_.usage(); }
    void verify() const { ranges_.verify(); }

    // Where an address lies.
    struct Place {
        VkBuffer buffer;
        std::uint64_t offset, bytes; // bytes: to the end of the block
        std::byte* host;             // null: not mapped
        bool host_cached;            // the host reads it at full speed
    };
    // Throws Error(internal) for a range outside every block.
    Place locate(Address, std::uint64_t bytes) const;
    // Ranges of other buffers that locate() shall find.
    void add_place(Address, const Place&);
    void remove_place(Address) noexcept;

private:
    bool grow(std::uint64_t bytes); // false: the limits do not allow it; throws where the driver has no more
    void add_block(std::uint64_t bytes);
    void trim(); // empty blocks go back to the driver

    const LogicalDevice& device_;
    std::function<void()> drain_;
    SubAllocator ranges_;
    std::mutex growth_; // one thread at a time asks the driver
    mutable std::shared_mutex mutex_;
    std::map<Address, Place> places_;              // blocks and added ranges
    std::vector<std::unique_ptr<Buffer>> further_; // by number of block; 0, the slab, is null
    std::vector<std::unique_ptr<Buffer>> removed_; // under growth_: the device may still use them
};

} // namespace reprise::device::vulkan
