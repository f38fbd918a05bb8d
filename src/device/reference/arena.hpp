// Host memory of the reference device: allocations are surrounded by canaries and poisoned.  Thread-safe.
#pragma once
#include "device/device.hpp"
#include <map>
#include <mutex>

namespace reprise::device {

class HostArena {
public:
    explicit HostArena(std::uint64_t limit) : limit_(limit) {}

    Address allocate(std::uint64_t bytes); // throws Error(out_of_memory)
    void release(Address) noexcept;        // an overwritten canary is reported by check()

    // True if [address, address + bytes) lies within one live allocation.
    bool holds(Address, std::uint64_t bytes) const;
    // Throws Error(internal) if something was written outside of an allocation, live or freed.
    void check();

    void set_limit(std::uint64_t bytes);
    void reset_peak();
    void fill(Counters&) const;

private:
    struct Block {
        std::unique_ptr<std::byte[]> storage;
        std::uint64_t bytes; // requested
        std::uint64_t taken; // rounded up; this counts against the limit
    };
    static bool canaries_intact(Address, const Block&) noexcept;
    void note_corruption(Address, const Block&) noexcept;

    mutable std::mutex mutex_;
    std::map<Address, Block> live_;
    std::uint64_t limit_, live_bytes_ = 0, peak_bytes_ = 0, allocations_ = 0;
    bool broken_ = false;
    std::uint64_t broken_bytes_ = 0;
};

} // namespace reprise::device
