// flip: the elements in reverse order along one dimension, whose neighbours are merged: [outer, along, inner].
//   operands  x [outer, along, inner], y of the same sizes; both contiguous
//   ints      outer, along, inner
//   groups    ceil(outer * along * inner / 64)
// variants: flip: ; flip_wide: -DWIDE
#version 460
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 2
#define FLOATS 0
#include "common/abi.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;

void main()
{
    Cells x = Cells(record.operand[0].address), y = Cells(record.operand[1].address);
    const uint outer = record.n[0], along = record.n[1], inner = record.n[2];
    const uint element = flat_group() * 64u + gl_LocalInvocationID.x;
    if (element >= outer * along * inner) return;
    const uint row = quotient(element, inner), block = quotient(row, along);
    const uint from = (block * along + along - 1u - (row - block * along)) * inner + element - row * inner;
    y.v[element] = x.v[from];
}
