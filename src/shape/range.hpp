// Intervals of integers.
#pragma once
#include <cstdint>
#include <limits>

namespace reprise::shape {

// The interval low <= value <= high.  Computed bounds are below 2^62 in magnitude or unbounded (rounded outward), so
// the sum of two never overflows.
struct Range {
    static constexpr std::int64_t unbounded_low = std::numeric_limits<std::int64_t>::min();
    static constexpr std::int64_t unbounded_high = std::numeric_limits<std::int64_t>::max();

    std::int64_t low = unbounded_low;
    std::int64_t high = unbounded_high;

    static Range of(std::int64_t value);
};

// Divides a bound of a range by a divisor of at least 1, rounding down.
std::int64_t divide_bound(std::int64_t bound, std::int64_t divisor);

Range operator+(const Range&, const Range&);
Range operator*(const Range&, const Range&);
Range intersect(const Range&, const Range&);
Range min(const Range&, const Range&);
Range max(const Range&, const Range&);
Range floor_div(const Range&, const Range& divisor); // assumes that the divisor is not 0

} // namespace reprise::shape
