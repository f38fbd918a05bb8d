#version 460
#extension GL_GOOGLE_include_directive : require
// y[i] += a * x[i], by address.  Ints: n.
#define OPERANDS 2 // x, y
#define FLOATS 1   // a
#include "common/abi.glsl"
layout(local_size_x = 64) in;

void main()
{
    const uint n = uint(record.n[0]);
    const float a = record.f[0];
    Floats x = Floats(record.operand[0].address);
    Floats y = Floats(record.operand[1].address);
    const uint i = flat_group() * 64u + gl_LocalInvocationID.x;
    if (i < n) {
        y.v[i] = y.v[i] + a * x.v[i];
    }
}
