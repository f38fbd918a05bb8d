// The parts of tune() that tests call.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include <reprise/tuning.hpp>

namespace reprise::tuning {

// The times of a product that has `tiles` tiles of 128 x 128 elements, and whether both sizes of tiles gave equal bits.
struct Timed {
    std::uint32_t tiles;
    double small_ms, large_ms;
    bool equal;
};

// Returns from how many tiles on large ones are worth it, given products in ascending order of tiles: kernels::never if
// they gave other bits or are slower even for the most tiles.  Times within 3 % of each other say nothing; nullopt if
// all do.
std::optional<std::uint32_t> least_large_tiles(const std::vector<Timed>&);

// tune() with products of another inner size: a small one suits tests on software drivers.
TuningReport tune(const Device&, std::int64_t inner_size, const TuningProgress&);

} // namespace reprise::tuning
