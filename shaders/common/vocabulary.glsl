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
RPF rp_sqrt(float x) { return sqrt(x); }
#include "ops/vocabulary.inc"
#ifdef DOUBLE
#define RPD precise double
#define rp_high(value) unpackDouble2x32(value).y
#define rp_low(value) unpackDouble2x32(value).x
#define rp_double(high, low) packDouble2x32(uvec2(low, high))
RPD rp_sqrt(double x) { return sqrt(x); }
#include "ops/vocabulary_f64.inc"
#endif
#endif
