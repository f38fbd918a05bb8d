// y[i] = a * x[i] + N, and with BEYOND one element too many.  Ints: count.
#version 460
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 2 // x, y
#define FLOATS 1   // a
#include "common/abi.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const int N = 0;
layout(constant_id = 1) const uint BEYOND = 0;

void main()
{
    const uint i = flat_group() * 64u + gl_LocalInvocationID.x;
    const float a = record.f[0];
    const uint count = uint(record.n[0]) + BEYOND;
    if (i >= count) return;
    Floats(record.operand[1].address).v[i] = a * Floats(record.operand[0].address).v[i] + float(N);
}
