// Device memory in large blocks, which are requested from a driver on demand and sub-allocated within a limit.
// Thread-safe.
#pragma once
#include "device/suballocator.hpp"
#include <functional>

namespace reprise::device {

class BlockMemory {
public:
    struct Source {
        // Allocates a new block; throws Error(out_of_memory) if the driver has no more.
        std::function<Address(std::uint64_t bytes)> add;
        std::function<void(Address)> remove;
        // Waits until no work in flight uses memory that was freed.
        std::function<void()> drain;
        std::uint64_t max_block = 0; // upper bound for the bytes of one block
        std::uint64_t ceiling = 0;   // upper bound for the bytes of all blocks, if larger than the limit
        std::string name;            // of the device
        // The bytes that the driver estimates to be left for this process; null: unknown.
        std::function<std::uint64_t()> available = nullptr;
    };
    BlockMemory(Source source, std::uint64_t limit) : source_(std::move(source)), ranges_(limit) {}
    // Starts with a first block, which the caller owns.
    BlockMemory(Source, std::uint64_t limit, Address first, std::uint64_t bytes, std::uint64_t window);
    ~BlockMemory();
    BlockMemory(const BlockMemory&) = delete;
    BlockMemory& operator=(const BlockMemory&) = delete;

    SubAllocator::Allocation allocate(std::uint64_t bytes);
    void release(const SubAllocator::Allocation& a) noexcept { ranges_.release(a); }
    void set_limit(std::uint64_t bytes) { ranges_.set_limit(bytes); }
    void reset_peak() { ranges_.reset_peak(); }
    SubAllocator::Usage usage() const { return ranges_.usage(); }
    void verify() const { ranges_.verify(); }

private:
    bool grow(std::uint64_t bytes); // false: limits reached; throws if the driver has no more memory
    void add_block(std::uint64_t bytes);
    std::uint64_t available() const;
    void require_available(std::uint64_t bytes); // trims, or throws Error(out_of_memory)
    void trim();                                 // returns empty blocks to the driver

    Source source_;
    SubAllocator ranges_;
    std::mutex growth_;            // one thread at a time requests blocks
    std::vector<Address> blocks_;  // by number; 0: freed, or the caller's
    std::vector<Address> removed_; // the device may still use them
};

// A range of a BlockMemory.  `Parts` are the parts of an open device, including `memory`; the range keeps them alive.
template <class Parts> class OwnedRange : public Memory {
public:
    OwnedRange(std::shared_ptr<Parts> parts, std::uint64_t size)
        : parts_(std::move(parts)), allocation_(parts_->memory.allocate(size))
    {
        address = allocation_.address;
        bytes = size;
    }
    ~OwnedRange() override { parts_->memory.release(allocation_); }
    OwnedRange(const OwnedRange&) = delete;
    OwnedRange& operator=(const OwnedRange&) = delete;

private:
    std::shared_ptr<Parts> parts_;
    SubAllocator::Allocation allocation_;
};

} // namespace reprise::device
