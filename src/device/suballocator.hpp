// The library's own memory allocator: it deals out ranges of a few large blocks, within a limit.  Bookkeeping
// only: it touches no memory, so it serves every kind of device.  Thread-safe; constant time for each block.
//
// The rule that kernels rest on: in a block with windows, a range of up to a window never crosses a
// multiple of the window relative to the block's base; larger ranges may.
#pragma once
#include "device/device.hpp"
#include "device/tlsf.hpp"
#include <memory>
#include <mutex>
#include <variant>

namespace reprise::device {

class SubAllocator {
public:
    struct Allocation {
        Address address = 0;
        std::uint64_t bytes = 0; // requested, rounded up to 256
        std::uint32_t block = 0, node = 0;
    };
    enum class Refusal : std::uint8_t {
        limit, // the limit would be passed
        room,  // no block has a range that fits: add_block() helps
    };

    explicit SubAllocator(std::uint64_t limit) : limit_(limit) {}

    // Blocks are searched in the order in which they were added.
    std::uint32_t add_block(Address base, std::uint64_t bytes, std::uint64_t window);
    // Takes the blocks that hold nothing away, except the first; returns their numbers.
    std::vector<std::uint32_t> remove_empty_blocks();

    std::variant<Allocation, Refusal> allocate(std::uint64_t bytes);
    void release(const Allocation&) noexcept;

    void set_limit(std::uint64_t bytes);
    void reset_peak();

    struct Usage {
        std::uint64_t limit, live, peak, reserved; // bytes; reserved: of all blocks
        std::uint64_t largest_free;                // bytes in one piece
        std::uint64_t allocations;                 // since the start
    };
    Usage usage() const;
    void verify() const; // throws Error(internal) where the bookkeeping is broken

    static std::uint64_t rounded(std::uint64_t bytes); // what an allocation of `bytes` takes

private:
    struct Block {
        Address base;
        std::unique_ptr<Tlsf> ranges; // null: removed
    };

    mutable std::mutex mutex_;
    std::vector<Block> blocks_;
    std::uint64_t limit_, live_ = 0, peak_ = 0, allocations_ = 0;
};

// "1.5 GiB", "256 bytes": for the sentences of errors.
std::string format_bytes(std::uint64_t);

// Throws Error(out_of_memory) that says what was requested and what is left.
[[noreturn]] void fail_out_of_memory(std::uint64_t asked, const SubAllocator::Usage&,
                                     const std::string& device);

} // namespace reprise::device
