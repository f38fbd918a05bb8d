// Division of numbers below 2^31 by a divisor that many threads share: a multiplication and a shift.
#pragma once
#include "common/kernel.cuh"

namespace rp {

struct Divider {
    uint by, multiplier, shift;

    // by: below 2^31; 0: no division will follow
    static RP_DEVICE Divider of(uint by)
    {
        const uint divisor = max(by, 1u);
        uint shift = 0;
        while ((1u << shift) < divisor) ++shift;
        const unsigned long long above = static_cast<unsigned long long>((1u << shift) - divisor) << 32;
        return {by, uint(above / divisor) + 1u, shift};
    }
    RP_DEVICE uint quotient(uint n) const
    {
        uint high, low;
        umulExtended(n, multiplier, high, low);
        return (high + n) >> shift;
    }
};

} // namespace rp
