// Rounds to f16 or bf16, whichever widening.glsl widens, as casts do.  Needs widening.glsl.
#ifndef COMMON_NARROWING
#define COMMON_NARROWING
#include "common/vocabulary.glsl"

uint narrowed(float v)
{
    uint bits;
    if (WIDENING == BF16_BY_SHIFT) bits = rp_to_bf16(v);
    else bits = rp_to_f16(v);
    return bits;
}
uvec2 narrowed(vec4 v) // two elements in a word
{
    return uvec2(narrowed(v.x) | narrowed(v.y) << 16, narrowed(v.z) | narrowed(v.w) << 16);
}
#endif
