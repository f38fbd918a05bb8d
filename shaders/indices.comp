// indices: i64 as i32, for kernels that look something up; what is outside of i32 becomes its limit, which is outside
// of every tensor.
//   operands  x (i64, any strides), y (i32, contiguous)
//   ints      count, sizes, strides of x; outermost first
//   constants 0: dimensions
//   groups    ceil(count / 64)
// variants: indices_i64:
#version 460
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 2
#define FLOATS 0
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/index.glsl"
#include "common/i64.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint RANK = 0;

void main()
{
    const uint count = uint(record.n[0]);
    uint size[MAX_RANK], c[MAX_RANK];
    int stride[MAX_RANK];
    for (uint d = 0u; d < RANK; ++d) {
        size[d] = uint(record.n[1u + d]);
        stride[d] = record.n[1u + RANK + d];
    }
    const uint element = flat_group() * 64u + gl_LocalInvocationID.x;
    if (element >= count) return;
    uint at = 0u;
    if (RANK > 0u) {
        coordinates(element, RANK, size, c);
        at = offset(RANK, c, stride);
    }
    Ints(record.operand[1].address).v[element] = rp_to_index(Longs(record.operand[0].address).v[at]);
}
