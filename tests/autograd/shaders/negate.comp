// y = -x.  operands: x, y; ints: elements
#version 460
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 2
#define FLOATS 0
#include "common/abi.glsl"
layout(local_size_x = 64) in;

void main()
{
    Floats x = Floats(record.operand[0].address), y = Floats(record.operand[1].address);
    const uint i = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (i >= uint(record.n[0])) return;
    y.v[i] = -x.v[i];
}
