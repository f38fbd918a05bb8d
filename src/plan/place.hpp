// The arena holds the temporaries of a plan at given sizes. The order of placement is searched once, when a plan is
// compiled; each call at new sizes fills the arena in this order, first-fit. Values with overlapping epochs never share
// a byte, so any placement is safe.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.hpp"

namespace reprise::plan {

class Placement {
public:
    // `bytes[k][i]`: bytes of value i at the k-th of a few sizes, for the search. `tries`: number of orders to try
    // beyond a few good heuristics; not worth it for a plan that runs once.
    using Bytes = std::vector<std::uint64_t>;
    // Places the temporaries with this value of PlanValue::on_host.
    Placement(const Plan&, std::span<const Bytes> bytes, int tries, bool on_host = false);

    // Returns the arena's size and sets `offsets` by value, from the arena's start (0 for values outside of the arena).
    // `base` is the distance from the slab's start to the arena's; no value of up to `window` bytes crosses a multiple
    // of `window` from the slab's start (0: no windows).
    std::uint64_t fill(std::span<const std::uint64_t> bytes, std::uint64_t base, std::uint64_t window,
                       std::vector<std::uint64_t>& offsets) const;
    // Returns the largest sum of live bytes in one epoch: no arena can be smaller.
    std::uint64_t lower_bound(std::span<const std::uint64_t> bytes) const;

    const std::vector<std::uint32_t>& order() const { return order_; }

private:
    struct Live {
        std::uint32_t first, last;
    };
    void search(std::span<const Bytes> bytes, int tries);
    std::vector<std::uint32_t> skyline(const std::vector<std::uint32_t>& preferred,
                                       std::span<const std::uint64_t> bytes) const;

    std::vector<Live> live_;           // by value
    std::vector<std::uint32_t> order_; // temporaries
    std::uint32_t epochs_ = 0;
};

// Returns the bytes of live temporaries at each launch, if launches ran one at a time in plan order. Since an epoch may
// have several launches, lower_bound() may exceed their maximum.
std::vector<std::uint64_t> live_at_launches(const Plan&, std::span<const std::uint64_t> bytes);
std::uint64_t max_live_at_launch(const Plan&, std::span<const std::uint64_t> bytes);

// Returns the bytes of each value with every symbol at or near this size, by default a medium one; zeros if no legal
// size is found.
std::vector<std::uint64_t> typical_bytes(const Plan&, std::int64_t size = 64);
// Returns typical_bytes() at a few sizes, or at one if all sizes are constant.
std::vector<std::vector<std::uint64_t>> bytes_at_sizes(const Plan&);

constexpr std::uint64_t arena_alignment = 256; // bytes; the alignment of all device memory
constexpr std::uint64_t aligned(std::uint64_t bytes)
{
    return (bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
}

} // namespace reprise::plan
