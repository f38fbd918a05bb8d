// flip: reverses the elements along one dimension; the dimensions on both sides are merged: [outer, along, inner].
//   x, y      contiguous
//   groups    ceil(outer * along * inner / 64)
// variants: flip: ; flip_wide: -DWIDE
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;

RECORD(flip)
INPUT(x) OUTPUT(y)
INT(outer) INT(along) INT(inner)
END_RECORD

void main()
{
    Cells x = Cells(record.x.address), y = Cells(record.y.address);
    const uint outer = record.outer, along = record.along, inner = record.inner;
    const uint element = flat_group() * 64u + gl_LocalInvocationID.x;
    if (element >= outer * along * inner) return;
    const uint row = quotient(element, inner), block = quotient(row, along);
    const uint from = (block * along + along - 1u - (row - block * along)) * inner + element - row * inner;
    y.v[element] = x.v[from];
}
