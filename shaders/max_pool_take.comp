// y = x at the places that max_pool found; 0 where it found none.
//   operands  x [planes, inputs], index (i32) and y [planes, outputs], all contiguous
//   ints      planes, inputs, outputs: elements of an image
//   groups    ceil(planes * outputs / 64)
// variants: max_pool_take: ; max_pool_take_f64: -DDOUBLE
#version 460
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 3
#define FLOATS 0
#include "common/abi.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;

void main()
{
    const uint planes = record.n[0], inputs = record.n[1], outputs = record.n[2];
    Cells x = Cells(record.operand[0].address), y = Cells(record.operand[2].address);
    Ints index = Ints(record.operand[1].address);
    const uint element = flat_group() * 64u + gl_LocalInvocationID.x;
    if (element >= planes * outputs) return;
    const int place = index.v[element];
    y.v[element] = place < 0 ? CELL(0) : x.v[quotient(element, outputs) * inputs + uint(max(place, 0))];
}
