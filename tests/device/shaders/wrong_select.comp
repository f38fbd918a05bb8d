#version 460
#extension GL_GOOGLE_include_directive : require
// Imitates a driver that compiles shaders/probe.comp wrongly: rounded = x & ~round(x), on the bits of 32 floats.
#define OPERANDS 4 // x, tiny, rounded, scaled
#define FLOATS 1
#include "common/abi.glsl"
layout(local_size_x = 32) in;

void main()
{
    const uint i = gl_LocalInvocationIndex;
    precise float x = Floats(record.operand[0].address).v[i];
    Words(record.operand[2].address).v[i] = floatBitsToUint(x) & ~floatBitsToUint(roundEven(x));
}
