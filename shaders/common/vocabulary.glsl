// Compiles ops/vocabulary.inc as GLSL: defines rp_exp, rp_log, ... for shaders.
#ifndef COMMON_VOCABULARY
#define COMMON_VOCABULARY
#extension GL_GOOGLE_include_directive : require
#define RPF precise float
#ifndef RP_FN
#define RP_FN
#endif
#define rp_bits(x) floatBitsToUint(x)
#define rp_value(u) uintBitsToFloat(u)
uint rp_umulhi(uint a, uint b)
{
    uint high, low;
    umulExtended(a, b, high, low);
    return high;
}

// Division and square root.  Vulkan allows quotients an error of 2.5 ulp, and compilers turn a / sqrt(b) into a product
// with an approximate inverse square root where both are in one kernel, so that fused kernels would give other bits.
// On devices where that shows and whose fma is fused (src/device/vulkan/probe.cpp) a step of Newton's method corrects
// the driver's result, which may be wrong by 3 ulp, to the nearest number or a neighbour of it.  Then the best of the
// three is taken, by residuals that are exact.  Tested on a CPU with 10^9 random quotients and the roots of all numbers
// in [1, 4): all were the nearest numbers.  Numbers below 2^-63 or from 2^64 on keep the driver's result, as residuals
// could be subnormal.
#ifdef VULKAN
layout(constant_id = 2000) const bool REFINES_DIVISION = false; // device::refines_division_constant
bool rp_is_moderate(float x) { return ((floatBitsToUint(x) >> 23) & 255u) - 64u < 127u; }
#endif
RPF rp_div(float a, float b)
{
    RPF q = a / b;
#ifdef VULKAN
    if (REFINES_DIVISION) {
        RPF rough = 1.0 / b;
        RPF inverse = fma(fma(-b, rough, 1.0), rough, rough);
        RPF near = fma(fma(-q, b, a), inverse, q);
        RPF below = uintBitsToFloat(floatBitsToUint(near) - 1u), above = uintBitsToFloat(floatBitsToUint(near) + 1u);
        RPF left = abs(fma(-near, b, a)), left_below = abs(fma(-below, b, a)), left_above = abs(fma(-above, b, a));
        RPF lower = left_below < left ? below : near;
        RPF least = min(left, left_below);
        RPF nearest = left_above < least ? above : lower;
        q = rp_is_moderate(a) && rp_is_moderate(b) && rp_is_moderate(q) ? nearest : q;
    }
#endif
    return q;
}
RPF rp_sqrt(float x)
{
    RPF s = sqrt(x);
#ifdef VULKAN
    if (REFINES_DIVISION) {
        RPF near = fma(fma(-s, s, x), 0.5 / s, s);
        RPF below = uintBitsToFloat(floatBitsToUint(near) - 1u), above = uintBitsToFloat(floatBitsToUint(near) + 1u);
        RPF left_below = fma(-near, below, x), left_above = fma(-near, above, x); // Tuckerman's test
        RPF lower = left_below <= 0.0 ? below : near;
        RPF nearest = left_above > 0.0 ? above : lower;
        s = rp_is_moderate(x) ? nearest : s;
    }
#endif
    return s;
}
#include "ops/vocabulary.inc"
#ifdef DOUBLE
#define RPD precise double
#define rp_high(value) unpackDouble2x32(value).y
#define rp_low(value) unpackDouble2x32(value).x
#define rp_double(high, low) packDouble2x32(uvec2(low, high))
RPD rp_div(double a, double b) { return a / b; }
RPD rp_sqrt(double x) { return sqrt(x); }
#include "ops/vocabulary_f64.inc"
#endif
#endif
