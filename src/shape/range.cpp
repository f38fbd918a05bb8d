#include "shape/range.hpp"

#include <algorithm>

#include "shape/checked.hpp"

namespace reprise::shape {

namespace {

constexpr std::int64_t infinity = Range::unbounded_high;
constexpr std::int64_t minus_infinity = Range::unbounded_low;
constexpr std::int64_t limit = (std::int64_t{1} << 62) - 1;

Range rounded(std::int64_t low, std::int64_t high)
{
    return {low < -limit ? minus_infinity : std::min(low, limit),
            high > limit ? infinity : std::max(high, -limit)};
}

// Multiplies two bounds.  Unbounded ones count as infinite; 0 times infinity is 0.
std::int64_t product(std::int64_t a, std::int64_t b)
{
    if (a == 0 || b == 0) return 0;
    const bool infinite = a == infinity || a == minus_infinity || b == infinity || b == minus_infinity;
    std::int64_t result = 0;
    if (!infinite && !multiply_overflows(a, b, result)) return result;
    return (a < 0) == (b < 0) ? infinity : minus_infinity;
}

} // namespace

std::int64_t divide_bound(std::int64_t a, std::int64_t divisor)
{
    if (divisor == infinity) return a < 0 ? -1 : 0;
    if (a == infinity || a == minus_infinity) return a;
    return checked_floor_div(a, divisor);
}

Range Range::of(std::int64_t value) { return rounded(value, value); }

Range operator+(const Range& a, const Range& b)
{
    return rounded(a.low == minus_infinity || b.low == minus_infinity ? minus_infinity : a.low + b.low,
                   a.high == infinity || b.high == infinity ? infinity : a.high + b.high);
}

Range operator*(const Range& a, const Range& b)
{
    const auto [low, high] = std::minmax(
        {product(a.low, b.low), product(a.low, b.high), product(a.high, b.low), product(a.high, b.high)});
    return rounded(low, high);
}

Range intersect(const Range& a, const Range& b) { return {std::max(a.low, b.low), std::min(a.high, b.high)}; }
Range min(const Range& a, const Range& b) { return {std::min(a.low, b.low), std::min(a.high, b.high)}; }
Range max(const Range& a, const Range& b) { return {std::max(a.low, b.low), std::max(a.high, b.high)}; }

Range floor_div(const Range& a, const Range& divisor)
{
    if (divisor.low < 0) { // either sign is possible, and the magnitude does not grow
        const Range negated = a * Range::of(-1);
        return {std::min(a.low, negated.low), std::max(a.high, negated.high)};
    }
    const std::int64_t min_divisor = std::max<std::int64_t>(divisor.low, 1);
    const std::int64_t max_divisor = std::max(divisor.high, min_divisor);
    return {divide_bound(a.low, a.low < 0 ? min_divisor : max_divisor),
            divide_bound(a.high, a.high < 0 ? max_divisor : min_divisor)};
}

} // namespace reprise::shape
