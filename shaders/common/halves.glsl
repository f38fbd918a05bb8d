// Loads and stores of f16 and bf16, each as 16 bits of memory, without touching the other half of a word.  For kernels of GPUs
// (Capabilities::half_access): not all devices have storageBuffer16BitAccess.
#ifndef COMMON_HALVES
#define COMMON_HALVES
#extension GL_EXT_shader_16bit_storage : require
#include "common/abi.glsl"

layout(buffer_reference, std430, buffer_reference_align = 2) buffer Halves { uint16_t v[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Halves4 { uvec2 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 2) readonly restrict buffer ReadHalves { uint16_t v[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly restrict buffer ReadHalves4 { uvec2 v[]; };

uvec4 unpacked(uvec2 words) { return uvec4(words.x & 0xFFFFu, words.x >> 16, words.y & 0xFFFFu, words.y >> 16); }

// The f32 that equals an f16.  Without float operations: spirv-opt's copies of unrolled loops would lose NoContraction.
float from_f16(uint bits)
{
    const uint mantissa = bits & 0x3FFu, magnitude = bits & 0x7FFFu;
    const uint top = uint(findMSB(mantissa | 1u)); // of a subnormal number: its leading bit
    const uint subnormal = mantissa == 0u ? 0u : (103u + top) << 23 | (mantissa << (23u - top) & 0x7FFFFFu);
    const uint normal = (magnitude << 13) + (magnitude >= 0x7C00u ? 224u << 23 : 112u << 23); // infinity, NaN: 255
    return uintBitsToFloat((magnitude < 0x400u ? subnormal : normal) | (bits & 0x8000u) << 16);
}
float widened(uint bits, bool is_bf16) { return is_bf16 ? uintBitsToFloat(bits << 16) : from_f16(bits); }
vec4 widened(uvec4 bits, bool is_bf16)
{
    return vec4(widened(bits.x, is_bf16), widened(bits.y, is_bf16), widened(bits.z, is_bf16),
                widened(bits.w, is_bf16));
}
#endif
