#version 460
#extension GL_GOOGLE_include_directive : require
// c = a + b: a and b through the texel view, c through a window.  Ints: n / 4.
#define OPERANDS 3 // a, b, c
#define FLOATS 0
#define SLAB
#include "common/abi.glsl"
layout(local_size_x = 64) in;

void main()
{
    const uint n = uint(record.n[0]);
    const uint a = record.operand[0].texel, b = record.operand[1].texel, c = record.operand[2].texel;
    const uint i = flat_group() * 64u + gl_LocalInvocationID.x;
    if (i < n) {
        slab_window[WINDOW_OF(c)].v[IN_WINDOW(c) + i] =
            texelFetch(slab, int(a + i)) + texelFetch(slab, int(b + i));
    }
}
