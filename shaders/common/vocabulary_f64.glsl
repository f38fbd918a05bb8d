// The vocabulary for doubles, without transcendental functions, of which GLSL has no f64 versions: a row of the table
// that calls what stands here has kernels for f64.  Rules as in ops/vocabulary.inc.
#define RPD precise double

RP_FN uvec2 rp_size_bits(double x) { return unpackDouble2x32(x) & uvec2(0xFFFFFFFFu, 0x7FFFFFFFu); } // of |x|
RP_FN bool rp_is_negative(double x) { return (unpackDouble2x32(x).y & 0x80000000u) != 0u; }
RP_FN bool rp_is_nan(double x)
{
    uvec2 u = rp_size_bits(x);
    return u.y > 0x7FF00000u || (u.y == 0x7FF00000u && u.x != 0u);
}
RP_FN bool rp_is_inf(double x) { return rp_size_bits(x) == uvec2(0u, 0x7FF00000u); }
RP_FN bool rp_is_zero(double x) { return rp_size_bits(x) == uvec2(0u); }
RP_FN bool rp_is_nonzero(double x) { return !rp_is_zero(x); }
RP_FN RPD rp_select(bool c, double a, double b) { return c ? a : b; }
RP_FN RPD rp_abs(double x) { return packDouble2x32(rp_size_bits(x)); }
RP_FN RPD rp_copysign(double x, double s)
{
    uvec2 u = rp_size_bits(x);
    return packDouble2x32(uvec2(u.x, u.y | (unpackDouble2x32(s).y & 0x80000000u)));
}
RP_FN RPD rp_sign(double x)
{
    RPD one = rp_copysign(1.0lf, x);
    return (x > 0.0lf || x < 0.0lf) ? one : 0.0lf;
}
RP_FN RPD rp_max(double a, double b) { return (a > b || rp_is_nan(a)) ? a : b; }
RP_FN RPD rp_min(double a, double b) { return (a < b || rp_is_nan(a)) ? a : b; }

// from 2^52 on every double is an integer
RP_FN RPD rp_round(double x)
{
    RPD a = rp_abs(x);
    RPD near = (a + 4503599627370496.0lf) - 4503599627370496.0lf;
    return a < 4503599627370496.0lf ? rp_copysign(near, x) : x;
}
RP_FN RPD rp_floor(double x)
{
    RPD near = rp_round(x);
    RPD below = near - 1.0lf;
    return rp_copysign(near > x ? below : near, x);
}
RP_FN RPD rp_ceil(double x)
{
    RPD near = rp_round(x);
    RPD above = near + 1.0lf;
    return rp_copysign(near < x ? above : near, x);
}
RP_FN RPD rp_trunc(double x)
{
    RPD a = rp_abs(x);
    return rp_copysign(rp_floor(a), x);
}
RP_FN RPD rp_sqrt(double x) { return sqrt(x); }
RP_FN RPD rp_rsqrt(double x) { return 1.0lf / rp_sqrt(x); }

// By long division, a bit a step: b times the largest power of two that fits is taken off, then half of it; all exact.
RP_FN RPD rp_fmod(double a, double b)
{
    RPD rest = rp_abs(a);
    RPD size = rp_abs(b);
    // > takes subnormals that a device flushes for the zeros that they then are: the loop below ends
    bool ordinary = rp_size_bits(a).y < 0x7FF00000u && size > 0.0lf && !rp_is_nan(b);
    bool lower = !ordinary || rest < size;
    rest = lower ? 0.0lf : rest;
    size = lower ? 1.0lf : size;
    RPD part = size;
    RPD twice = part + part;
    while (twice <= rest) {
        part = twice;
        twice = part + part;
    }
    while (part >= size) {
        RPD left = rest - part;
        rest = rest >= part ? left : rest;
        part = part * 0.5lf;
    }
    RPD y = rp_copysign(rest, a);
    y = lower ? a : y;
    return ordinary ? y : rp_nan();
}
RP_FN RPD rp_remainder(double a, double b)
{
    RPD r = rp_fmod(a, b);
    bool other = rp_is_negative(r) != rp_is_negative(b);
    RPD moved = r + b;
    return rp_is_nonzero(r) && other ? moved : r;
}
RP_FN RPD rp_floor_divide(double a, double b)
{
    RPD r = rp_fmod(a, b);
    RPD q = (a - r) / b;
    RPD below = q - 1.0lf;
    bool other = rp_is_negative(r) != rp_is_negative(b);
    RPD whole = rp_round(rp_is_nonzero(r) && other ? below : q);
    RPD infinite = a / b;
    return rp_is_zero(b) ? infinite : whole;
}
RP_FN RPD rp_trunc_divide(double a, double b)
{
    RPD q = a / b;
    return rp_trunc(q);
}

// toward zero; out of range the nearest integer, NaN gives 0
RP_FN int rp_to_i32(double x)
{
    bool high = x >= 2147483648.0lf;
    bool low = x <= -2147483648.0lf;
    int i = int((high || low || rp_is_nan(x)) ? 0.0lf : x);
    return high ? 2147483647 : (low ? -2147483647 - 1 : i);
}
