// 64-bit integers as two words, x the low one, in the order of memory.  All devices compile this text, whether they
// have 64-bit integers or not: GPU drivers emulate these by 32-bit instructions, too.  The rules are those of
// ops/vocabulary.inc.  Needs abi.glsl.
#ifndef COMMON_I64
#define COMMON_I64
#include "common/vocabulary.glsl"

RP_FN uvec2 rp_long(int v) { return uvec2(uint(v), v < 0 ? 0xFFFFFFFFu : 0u); }
RP_FN bool rp_is_negative(uvec2 a) { return int(a.y) < 0; }
RP_FN bool rp_is_nonzero(uvec2 a) { return (a.x | a.y) != 0u; }

RP_FN uvec2 rp_add(uvec2 a, uvec2 b)
{
    uint low = a.x + b.x;
    return uvec2(low, a.y + b.y + (low < a.x ? 1u : 0u));
}
RP_FN uvec2 rp_sub(uvec2 a, uvec2 b) { return uvec2(a.x - b.x, a.y - b.y - (a.x < b.x ? 1u : 0u)); }
RP_FN uvec2 rp_neg(uvec2 a) { return rp_sub(uvec2(0u), a); }
RP_FN uvec2 rp_mul(uvec2 a, uvec2 b)
{
    uint high, low;
    umulExtended(a.x, b.x, high, low);
    return uvec2(low, high + a.x * b.y + a.y * b.x);
}

RP_FN bool rp_equal(uvec2 a, uvec2 b) { return a.x == b.x && a.y == b.y; }
RP_FN bool rp_not_equal(uvec2 a, uvec2 b) { return a.x != b.x || a.y != b.y; }
RP_FN bool rp_below(uvec2 a, uvec2 b) { return a.y < b.y || (a.y == b.y && a.x < b.x); } // unsigned
RP_FN bool rp_less(uvec2 a, uvec2 b) { return int(a.y) < int(b.y) || (a.y == b.y && a.x < b.x); }
RP_FN bool rp_greater(uvec2 a, uvec2 b) { return rp_less(b, a); }
RP_FN bool rp_less_equal(uvec2 a, uvec2 b) { return !rp_less(b, a); }
RP_FN bool rp_greater_equal(uvec2 a, uvec2 b) { return !rp_less(a, b); }

RP_FN uvec2 rp_select(bool c, uvec2 a, uvec2 b) { return uvec2(c ? a.x : b.x, c ? a.y : b.y); }
RP_FN uvec2 rp_max(uvec2 a, uvec2 b) { return rp_select(rp_less(b, a), a, b); }
RP_FN uvec2 rp_min(uvec2 a, uvec2 b) { return rp_select(rp_less(a, b), a, b); }
RP_FN uvec2 rp_abs(uvec2 a) { return rp_select(rp_is_negative(a), rp_neg(a), a); }
RP_FN uvec2 rp_sign(uvec2 a) { return rp_long(rp_is_negative(a) ? -1 : (rp_is_nonzero(a) ? 1 : 0)); }

RP_FN uvec2 rp_bitwise_and(uvec2 a, uvec2 b) { return a & b; }
RP_FN uvec2 rp_bitwise_or(uvec2 a, uvec2 b) { return a | b; }
RP_FN uvec2 rp_bitwise_xor(uvec2 a, uvec2 b) { return a ^ b; }
RP_FN uvec2 rp_bitwise_not(uvec2 a) { return ~a; }
// Shift by 0 to 63 bits; `>> 1 >> (31 - n)` shifts by 32 - n bits, also where n is 0.
RP_FN uvec2 rp_shifted_left(uvec2 a, uint by)
{
    uint n = by & 31u;
    uvec2 v = uvec2(a.x << n, (a.y << n) | (a.x >> 1 >> (31u - n)));
    return by < 32u ? v : uvec2(0u, v.x);
}
RP_FN uvec2 rp_shifted_right(uvec2 a, uint by)
{
    uint n = by & 31u;
    uint sign = rp_is_negative(a) ? 0xFFFFFFFFu : 0u;
    uvec2 v = uvec2((a.x >> n) | (a.y << 1 << (31u - n)), uint(int(a.y) >> n));
    return by < 32u ? v : uvec2(v.y, sign);
}
// Shift by any number; outside of 0 to 63 all bits are shifted out.
RP_FN uvec2 rp_left_shift(uvec2 a, uvec2 b)
{
    bool within = b.y == 0u && b.x < 64u;
    return rp_select(within, rp_shifted_left(a, within ? b.x : 0u), uvec2(0u));
}
RP_FN uvec2 rp_right_shift(uvec2 a, uvec2 b)
{
    bool within = b.y == 0u && b.x < 64u;
    return rp_shifted_right(a, within ? b.x : 63u);
}

// Returns the unsigned quotient (x, y) and remainder (z, w), by long division with one bit per step.
RP_FN uvec4 rp_divided(uvec2 a, uvec2 b)
{
    uvec2 quotient = a, rest = uvec2(0u);
    for (uint i = 0u; i < 64u; ++i) {
        bool carried = rp_is_negative(rest); // the bit that the shift drops
        rest = uvec2((rest.x << 1) | (quotient.y >> 31), (rest.y << 1) | (rest.x >> 31));
        quotient = uvec2(quotient.x << 1, (quotient.y << 1) | (quotient.x >> 31));
        bool fits = carried || !rp_below(rest, b);
        rest = rp_select(fits, rp_sub(rest, b), rest);
        quotient.x |= fits ? 1u : 0u;
    }
    return uvec4(quotient.x, quotient.y, rest.x, rest.y);
}
// These return 0 where b is 0.  The smallest integer divided by -1 is itself.
RP_FN uvec2 rp_fmod(uvec2 a, uvec2 b)
{
    uvec4 d = rp_divided(rp_abs(a), rp_abs(b));
    uvec2 rest = uvec2(d.z, d.w);
    rest = rp_select(rp_is_negative(a), rp_neg(rest), rest);
    return rp_select(rp_is_nonzero(b), rest, uvec2(0u));
}
RP_FN uvec2 rp_trunc_divide(uvec2 a, uvec2 b)
{
    uvec4 d = rp_divided(rp_abs(a), rp_abs(b));
    uvec2 quotient = uvec2(d.x, d.y);
    quotient = rp_select(rp_is_negative(a) != rp_is_negative(b), rp_neg(quotient), quotient);
    return rp_select(rp_is_nonzero(b), quotient, uvec2(0u));
}
RP_FN uvec2 rp_remainder(uvec2 a, uvec2 b)
{
    uvec2 rest = rp_fmod(a, b);
    bool other = rp_is_nonzero(rest) && rp_is_negative(rest) != rp_is_negative(b);
    return rp_select(other, rp_add(rest, b), rest);
}
RP_FN uvec2 rp_floor_divide(uvec2 a, uvec2 b)
{
    uvec2 quotient = rp_trunc_divide(a, b);
    uvec2 rest = rp_sub(a, rp_mul(quotient, b));
    bool other = rp_is_nonzero(b) && rp_is_nonzero(rest) && rp_is_negative(rest) != rp_is_negative(b);
    return rp_select(other, rp_sub(quotient, uvec2(1u, 0u)), quotient);
}

// Converts toward zero; out of range to the nearest integer, NaN to 0.
RP_FN uvec2 rp_to_i64(float x)
{
    uint size = rp_bits(x) & 0x7FFFFFFFu;
    int by = int(size >> 23) - 150; // |x| = mantissa * 2^by
    uint mantissa = (size & 0x7FFFFFu) | 0x800000u;
    uvec2 v = by < 0 ? uvec2(by < -24 ? 0u : mantissa >> (uint(-by) & 31u), 0u)
                     : rp_shifted_left(uvec2(mantissa, 0u), uint(by) & 63u);
    bool negative = (rp_bits(x) & 0x80000000u) != 0u;
    v = by >= 40 ? (negative ? uvec2(0u, 0x80000000u) : uvec2(0xFFFFFFFFu, 0x7FFFFFFFu)) // from 2^63 on
                 : rp_select(negative, rp_neg(v), v);
    return size > 0x7F800000u ? uvec2(0u) : v;
}
// Rounds to nearest even, which needs only the upper 30 or 31 bits and whether any lower bit is set.
RP_FN RPF rp_to_f32(uvec2 a)
{
    uvec2 size = rp_abs(a);
    RPF high = float(int(size.y < 0x7FFFFFFFu ? size.y : 0x7FFFFFFFu)); // if this rounds up, `upper` has a bit less
    uint by = size.y == 0u ? size.x >> 31 : (rp_bits(high) >> 23) - 125u, n = by & 31u;
    uint upper = by < 32u ? (size.x >> n) | (size.y << 1 << (31u - n)) : size.y >> n;
    uint dropped = rp_not_equal(rp_shifted_left(uvec2(upper, 0u), by), size) ? 1u : 0u;
    RPF v = float(int(upper | dropped));
    v = v * rp_value((by + 127u) << 23);
    return rp_is_negative(a) ? -v : v;
}
#ifdef DOUBLE
RP_FN uvec2 rp_to_i64(double x)
{
    uvec2 bits = unpackDouble2x32(x), size = bits & uvec2(0xFFFFFFFFu, 0x7FFFFFFFu);
    int by = int(size.y >> 20) - 1075; // |x| = mantissa * 2^by
    uvec2 mantissa = uvec2(size.x, (size.y & 0xFFFFFu) | 0x100000u);
    uvec2 v = by < 0 ? rp_shifted_right(mantissa, by < -63 ? 63u : uint(-by))
                     : rp_shifted_left(mantissa, uint(by) & 63u);
    bool negative = rp_is_negative(bits), infinite = size.y == 0x7FF00000u && size.x == 0u;
    v = by >= 11 ? (negative ? uvec2(0u, 0x80000000u) : uvec2(0xFFFFFFFFu, 0x7FFFFFFFu)) // from 2^63 on
                 : rp_select(negative, rp_neg(v), v);
    return size.y >= 0x7FF00000u && !infinite ? uvec2(0u) : v;
}
RP_FN RPD rp_to_f64(uvec2 a)
{
    RPD high = double(int(a.y)) * 4294967296.0lf;
    RPD low = double(a.x);
    return high + low;
}
#endif
// Returns the nearest i32, so that an index out of range stays out of range.
RP_FN int rp_to_index(uvec2 a)
{
    bool fits = a.y == (int(a.x) < 0 ? 0xFFFFFFFFu : 0u);
    return fits ? int(a.x) : (rp_is_negative(a) ? -2147483647 - 1 : 2147483647);
}

// Loads element e of a tensor of i64 or, with `words`, of i32.
uvec2 load_long(uvec2 address, uint words, uint e)
{
    const bool narrow = words != 0u;
    uint low = Words(address).v[narrow ? e : 2u * e], high = Words(address).v[narrow ? e : 2u * e + 1u];
    return uvec2(low, narrow ? uint(int(high) >> 31) : high);
}
#endif
