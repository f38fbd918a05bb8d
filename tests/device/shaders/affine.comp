#version 460
#extension GL_GOOGLE_include_directive : require
// y[i] = y[i] * m + a + K: its order matters.  Ints: n.
#define OPERANDS 1 // y
#define FLOATS 2   // m, a
#include "common/abi.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint K = 0;
layout(constant_id = 1) const uint L = 0;

void main()
{
    const uint n = uint(record.n[0]);
    const float m = record.f[0], a = record.f[1];
    Floats y = Floats(record.operand[0].address);
    const uint i = flat_group() * 64u + gl_LocalInvocationID.x;
    if (i < n) {
        y.v[i] = y.v[i] * m + a + float(K) + 10.0 * float(L);
    }
}
