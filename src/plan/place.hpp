// The arena: where each temporary lies, for given sizes.  The order of placing is searched once, when a plan
// is made; a call at new sizes fills it first-fit.  Values whose epochs overlap never share a byte, so any
// placement is safe.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.hpp"

namespace reprise::plan {

class Placement {
public:
    // `bytes[i]`: of value i, for the search, at each of a few sizes.  `tries`: of orders beyond a few that are good
    // as a rule; what is placed once is not worth them.
    using Bytes = std::vector<std::uint64_t>;
    Placement(const Plan&, std::span<const Bytes> bytes, int tries);

    // Offsets from the arena's start by value (0 for what is not in the arena) and the arena's size.  `base`
    // is the arena's distance from the slab's start: no value of up to `window` bytes crosses a multiple of
    // it (0: no windows).
    std::uint64_t fill(std::span<const std::uint64_t> bytes, std::uint64_t base, std::uint64_t window,
                       std::vector<std::uint64_t>& offsets) const;
    // The largest sum of bytes live in one epoch: no arena can be smaller.
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

// Bytes of temporaries that live at each launch, were each to run by itself in the plan's order.  Epochs of several
// launches make lower_bound() larger than the most of these.
std::vector<std::uint64_t> live_at_launches(const Plan&, std::span<const std::uint64_t> bytes);
std::uint64_t most_live_at_a_launch(const Plan&, std::span<const std::uint64_t> bytes);

// Bytes of each value with every symbol at this size or near it, by default one that is neither large nor small; zeros where
// that is legal nowhere.
std::vector<std::uint64_t> typical_bytes(const Plan&, std::int64_t size = 64);
// At a few sizes; at one where all are numbers.
std::vector<std::vector<std::uint64_t>> bytes_at_sizes(const Plan&);

constexpr std::uint64_t arena_alignment = 256; // bytes, of any memory that a device gives
constexpr std::uint64_t aligned(std::uint64_t bytes)
{
    return (bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
}

} // namespace reprise::plan
