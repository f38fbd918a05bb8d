// 64-bit arithmetic with overflow checks.
#pragma once
#include <cstdint>
#include <limits>

namespace reprise::shape {

// Each function writes the result, modulo 2^64 on overflow, and returns whether it overflowed.
inline bool add_overflows(std::int64_t a, std::int64_t b, std::int64_t& sum)
{
    sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    return ((a ^ sum) & (b ^ sum)) < 0;
}
inline bool subtract_overflows(std::int64_t a, std::int64_t b, std::int64_t& difference)
{
    difference = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
    return ((a ^ b) & (a ^ difference)) < 0;
}
inline bool multiply_overflows(std::int64_t a, std::int64_t b, std::int64_t& product)
{
#if defined(__GNUC__)
    return __builtin_mul_overflow(a, b, &product); // without a division
#else
    constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    product = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    if (a == -1 || b == -1) return (a == -1 ? b : a) == lowest;
    return a != 0 && product / a != b;
#endif
}

// Rounds toward minus infinity.  The divisor must not be 0.  Only INT64_MIN / -1 overflows.
inline bool floor_div_overflows(std::int64_t a, std::int64_t b, std::int64_t& quotient)
{
    if (b == -1) return subtract_overflows(0, a, quotient);
    quotient = a / b;
    if (a % b != 0 && (a < 0) != (b < 0)) --quotient;
    return false;
}

// The same operations; they throw Error(argument) with both numbers on overflow.
std::int64_t checked_add(std::int64_t a, std::int64_t b);
std::int64_t checked_subtract(std::int64_t a, std::int64_t b);
std::int64_t checked_multiply(std::int64_t a, std::int64_t b);
std::int64_t checked_floor_div(std::int64_t a, std::int64_t b); // also for a divisor of 0

} // namespace reprise::shape
