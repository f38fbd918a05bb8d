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

// Division and square root.  Vulkan allows quotients an error of 2.5 ulp, and compilers turn a / sqrt(b) into a product with
// an approximate inverse square root where both are in one kernel, so that fused kernels would give other bits.  On devices
// where that shows (src/device/vulkan/probe.cpp) two steps of Newton's method by fma round correctly: on a CPU, from
// seeds that were wrong by 3 ulp, 1 of 400 million random quotients and 1 of the roots of all 2^24 numbers in [1, 4) differed.  Numbers below 2^-63 or from 2^64 on keep the driver's result, as
// residuals could be subnormal.
#ifdef VULKAN
layout(constant_id = 100) const bool REFINES_DIVISION = false; // by PipelineCache
bool rp_is_moderate(float x) { return ((floatBitsToUint(x) >> 23) & 255u) - 64u < 127u; }
#endif
RPF rp_div(float a, float b)
{
    RPF q = a / b;
#ifdef VULKAN
    if (REFINES_DIVISION) {
        RPF rough = 1.0 / b;
        RPF inverse = fma(fma(-b, rough, 1.0), rough, rough);
        RPF first = fma(fma(-q, b, a), inverse, q);
        RPF second = fma(fma(-first, b, a), inverse, first);
        q = rp_is_moderate(a) && rp_is_moderate(b) && rp_is_moderate(q) ? second : q;
    }
#endif
    return q;
}
RPF rp_sqrt(float x)
{
    RPF s = sqrt(x);
#ifdef VULKAN
    if (REFINES_DIVISION) {
        RPF rough = 0.5 / s;
        RPF half_inverse = fma(fma(-s, rough, 0.5), 2.0 * rough, rough);
        RPF first = fma(fma(-s, s, x), half_inverse, s);
        RPF second = fma(fma(-first, first, x), half_inverse, first);
        s = rp_is_moderate(x) ? second : s;
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
