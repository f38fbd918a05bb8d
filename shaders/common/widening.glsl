// The f32 that equals an f16 or a bf16.  The including file defines WIDENING_CONSTANT, the number of the specialization
// constant that tells how it is found, or FIXED_WIDENING, the one way that the kernel has.
#ifndef COMMON_WIDENING
#define COMMON_WIDENING

// Lowering::widening() chooses.  F16_BY_UNPACK takes one instruction instead of 14, on devices where it keeps subnormal
// numbers.
const uint F16_BY_INTEGERS = 0u, F16_BY_UNPACK = 1u, BF16_BY_SHIFT = 2u;
#ifdef FIXED_WIDENING
const uint WIDENING = FIXED_WIDENING;
#else
layout(constant_id = WIDENING_CONSTANT) const uint WIDENING = F16_BY_INTEGERS;
#endif

// The f32 that equals an f16.  Without float operations: spirv-opt's copies of unrolled loops would lose NoContraction.
float from_f16(uint bits)
{
    const uint mantissa = bits & 0x3FFu, magnitude = bits & 0x7FFFu;
    const uint top = uint(findMSB(mantissa | 1u)); // of a subnormal number: its leading bit
    const uint subnormal = mantissa == 0u ? 0u : (103u + top) << 23 | (mantissa << (23u - top) & 0x7FFFFFu);
    const uint normal = (magnitude << 13) + (magnitude >= 0x7C00u ? 224u << 23 : 112u << 23); // infinity, NaN: 255
    return uintBitsToFloat((magnitude < 0x400u ? subnormal : normal) | (bits & 0x8000u) << 16);
}
float widened(uint bits)
{
    if (WIDENING == F16_BY_UNPACK) return unpackHalf2x16(bits).x;
    return WIDENING == BF16_BY_SHIFT ? uintBitsToFloat(bits << 16) : from_f16(bits);
}
vec4 widened(uvec4 bits) { return vec4(widened(bits.x), widened(bits.y), widened(bits.z), widened(bits.w)); }
vec4 widened(uvec2 words) // of two elements each
{
    if (WIDENING == F16_BY_UNPACK) return vec4(unpackHalf2x16(words.x), unpackHalf2x16(words.y));
    return widened(uvec4(words.x & 0xFFFFu, words.x >> 16, words.y & 0xFFFFu, words.y >> 16));
}
#endif
