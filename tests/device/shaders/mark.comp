#version 460
#extension GL_GOOGLE_include_directive : require
// out[g] += g for the flat number g of each group.  Ints: the count of groups.
#define OPERANDS 1 // out
#define FLOATS 0
#include "common/abi.glsl"
layout(local_size_x = 1) in;

void main()
{
    const uint n = uint(record.n[0]);
    Words marks = Words(record.operand[0].address);
    const uint g = flat_group();
    if (g < n) {
        marks.v[g] = marks.v[g] + g;
    }
}
