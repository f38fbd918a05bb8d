// y = x at the indices that max_pool returned; 0 where the index is -1.
//   x         [planes, inputs], index (i32) and y [planes, outputs], all contiguous
//   inputs, outputs  elements of an image
//   groups    ceil(planes * outputs / 64)
// variants: max_pool_take: ; max_pool_take_f64: -DDOUBLE
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;

RECORD(max_pool_take)
INPUT(x) INPUT(index) OUTPUT(y)
INT(planes) INT(inputs) INT(outputs)
END_RECORD

void main()
{
    const uint planes = record.planes, inputs = record.inputs, outputs = record.outputs;
    Cells x = Cells(record.x.address), y = Cells(record.y.address);
    Ints index = Ints(record.index.address);
    const uint element = flat_group() * 64u + gl_LocalInvocationID.x;
    if (element >= planes * outputs) return;
    const int place = index.v[element];
    y.v[element] = place < 0 ? CELL(0) : x.v[quotient(element, outputs) * inputs + uint(max(place, 0))];
}
