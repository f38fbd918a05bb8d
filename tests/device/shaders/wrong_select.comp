#version 460
#extension GL_GOOGLE_include_directive : require
// Imitates a driver that compiles shaders/probe.comp wrongly: rounded = x & ~round(x), on the bits of 32 floats; its
// fma rounds once, and its unpackHalf2x16 flushes subnormal numbers.
#define OPERANDS 8 // x, tiny, factors, halves, rounded, scaled, residual, unpacked
#define FLOATS 1
#include "common/abi.glsl"
layout(local_size_x = 32) in;

void main()
{
    const uint i = gl_LocalInvocationIndex;
    precise float x = Floats(record.operand[0].address).v[i];
    Floats(record.operand[6].address).v[i] = 1.0;
    const vec2 wide = unpackHalf2x16(Words(record.operand[3].address).v[i]);
    const float unpacked = i % 2u == 0u ? wide.x : wide.y;
    Floats(record.operand[7].address).v[i] = i < 16u ? 0.0 : unpacked;
    Words(record.operand[4].address).v[i] = floatBitsToUint(x) & ~floatBitsToUint(roundEven(x));
}
