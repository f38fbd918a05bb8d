// Intervals of integers.
#pragma once
#include <cstdint>
#include <limits>

namespace reprise::shape {

// low <= value <= high.  Bounds that are computed are below 2^62 in magnitude or unbounded (rounded outward),
// so that sums of two never overflow.
struct Range {
    static constexpr std::int64_t unbounded_low = std::numeric_limits<std::int64_t>::min();
    static constexpr std::int64_t unbounded_high = std::numeric_limits<std::int64_t>::max();

    std::int64_t low = unbounded_low;
    std::int64_t high = unbounded_high;

    static Range of(std::int64_t value);
};

// A bound of a range over a divisor of 1 or more, rounded down.
std::int64_t divide_bound(std::int64_t bound, std::int64_t divisor);

Range operator+(const Range&, const Range&);
Range operator*(const Range&, const Range&);
Range intersect(const Range&, const Range&);
Range min(const Range&, const Range&);
Range max(const Range&, const Range&);
Range floor_div(const Range&, const Range& divisor); // a divisor that is not 0

} // namespace reprise::shape
