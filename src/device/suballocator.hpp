// The library's own memory allocator: it allocates ranges of a few large blocks, within a limit.  It only does the
// bookkeeping and touches no memory, so it works for every kind of device.  Thread-safe; constant time for each block.
//
// Kernels rely on this rule: in a block with windows, a range of at most one window never crosses a multiple of the
// window size, counted from the block's base; larger ranges may.
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
        limit, // the limit would be exceeded
        room,  // no block has a large enough free range: add_block() helps
    };

    explicit SubAllocator(std::uint64_t limit) : limit_(limit) {}

    // Blocks are searched in the order in which they were added.
    std::uint32_t add_block(Address base, std::uint64_t bytes, std::uint64_t window);
    // Removes all blocks without allocations except the first; returns their numbers.
    std::vector<std::uint32_t> remove_empty_blocks();

    std::variant<Allocation, Refusal> allocate(std::uint64_t bytes);
    void release(const Allocation&) noexcept;

    void set_limit(std::uint64_t bytes);
    void reset_peak();

    struct Usage {
        std::uint64_t limit, live, peak, reserved; // bytes; reserved: size of all blocks
        std::uint64_t largest_free;                // bytes, contiguous
        std::uint64_t allocations;                 // since the start
    };
    Usage usage() const;
    void verify() const; // throws Error(internal) if the bookkeeping is inconsistent

    static std::uint64_t rounded(std::uint64_t bytes); // size of an allocation of `bytes`

private:
    struct Block {
        Address base;
        std::unique_ptr<Tlsf> ranges; // null: removed
    };

    mutable std::mutex mutex_;
    std::vector<Block> blocks_;
    std::uint64_t limit_, live_ = 0, peak_ = 0, allocations_ = 0;
};

// "1.5 GiB", "256 bytes", for error messages.
std::string format_bytes(std::uint64_t);

// Throws Error(out_of_memory) that says how much was requested and how much is left.
[[noreturn]] void fail_out_of_memory(std::uint64_t asked, const SubAllocator::Usage&,
                                     const std::string& device);

} // namespace reprise::device
