// The vocabulary (src/ops/vocabulary.inc) for 64-bit integers, which CUDA has natively: same results as
// shaders/common/i64.glsl, which uses two words.  Sums wrap like unsigned ones.
#pragma once
#include "common/kernel.cuh"

namespace rp {

struct Long { // with the operators that rows of the table use
    long long value;
    RP_DEVICE Long() {}
    RP_DEVICE Long(long long v) : value(v) {}
    RP_DEVICE unsigned long long bits() const { return static_cast<unsigned long long>(value); }
    static RP_DEVICE Long of(unsigned long long bits) { return static_cast<long long>(bits); }
};
RP_DEVICE Long operator-(Long a) { return Long::of(0ull - a.bits()); }
RP_DEVICE Long operator+(Long a, Long b) { return Long::of(a.bits() + b.bits()); }
RP_DEVICE Long operator-(Long a, Long b) { return Long::of(a.bits() - b.bits()); }
RP_DEVICE Long operator*(Long a, Long b) { return Long::of(a.bits() * b.bits()); }
RP_DEVICE bool operator<(Long a, Long b) { return a.value < b.value; }
RP_DEVICE bool operator>(Long a, Long b) { return a.value > b.value; }
RP_DEVICE bool operator<=(Long a, Long b) { return a.value <= b.value; }
RP_DEVICE bool operator>=(Long a, Long b) { return a.value >= b.value; }
RP_DEVICE bool operator==(Long a, Long b) { return a.value == b.value; }
RP_DEVICE bool operator!=(Long a, Long b) { return a.value != b.value; }

RP_DEVICE bool rp_is_nonzero(Long a) { return a.value != 0; }
RP_DEVICE Long rp_select(bool c, Long a, Long b) { return c ? a : b; }
RP_DEVICE Long rp_max(Long a, Long b) { return a > b ? a : b; }
RP_DEVICE Long rp_min(Long a, Long b) { return a < b ? a : b; }
RP_DEVICE Long rp_abs(Long a) { return a.value < 0 ? -a : a; }
RP_DEVICE Long rp_sign(Long a) { return a.value > 0 ? 1 : (a.value < 0 ? -1 : 0); }
// 0 if b is 0; the minimum over -1 is the minimum
RP_DEVICE Long rp_trunc_divide(Long a, Long b)
{
    if (b.value == 0) return 0;
    return b.value == -1 ? -a : Long(a.value / b.value);
}
RP_DEVICE Long rp_fmod(Long a, Long b) { return b.value == 0 ? Long(0) : a - b * rp_trunc_divide(a, b); }
RP_DEVICE bool goes_down(Long rest, Long b) { return rest.value != 0 && (rest.value < 0) != (b.value < 0); }
RP_DEVICE Long rp_remainder(Long a, Long b)
{
    const Long rest = rp_fmod(a, b);
    return goes_down(rest, b) ? rest + b : rest;
}
RP_DEVICE Long rp_floor_divide(Long a, Long b)
{
    const Long quotient = rp_trunc_divide(a, b);
    return goes_down(rp_fmod(a, b), b) ? quotient - Long(1) : quotient;
}
RP_DEVICE Long rp_bitwise_and(Long a, Long b) { return Long::of(a.bits() & b.bits()); }
RP_DEVICE Long rp_bitwise_or(Long a, Long b) { return Long::of(a.bits() | b.bits()); }
RP_DEVICE Long rp_bitwise_xor(Long a, Long b) { return Long::of(a.bits() ^ b.bits()); }
RP_DEVICE Long rp_bitwise_not(Long a) { return Long::of(~a.bits()); }
// shifts by 0 to 63 bits; by any other amount, all bits are shifted out
RP_DEVICE bool shifts_within(Long by) { return by.value >= 0 && by.value < 64; }
RP_DEVICE Long rp_left_shift(Long a, Long b) { return shifts_within(b) ? Long::of(a.bits() << b.value) : Long(0); }
RP_DEVICE Long rp_right_shift(Long a, Long b) { return a.value >> (shifts_within(b) ? b.value : 63); }

// rounds toward zero; out of range: the nearest integer; NaN: 0
RP_DEVICE Long rp_to_i64(double v)
{
    constexpr double limit = 9223372036854775808.0;
    constexpr unsigned long long least = 1ull << 63;
    if (v >= limit) return Long::of(least - 1u);
    if (v <= -limit) return Long::of(least);
    return v == v ? Long(static_cast<long long>(v)) : Long(0);
}

} // namespace rp
