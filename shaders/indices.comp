// indices: casts i64 indices to i32 with saturation; the limits of i32 are out of range of every tensor.
//   x         i64, any strides; y: i32, contiguous
//   sizes, strides  of RANK dimensions, outermost first
//   constants 0: RANK
//   groups    ceil(count / 64)
// variants: indices_i64:
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/index.glsl"
#include "common/i64.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint RANK = 0;

RECORD(indices)
INPUT(x) OUTPUT(y)
INT(count)
LIST(sizes) LIST(strides)
END_RECORD

void main()
{
    const uint count = uint(record.count);
    uint size[MAX_RANK], c[MAX_RANK];
    int stride[MAX_RANK];
    for (uint d = 0u; d < RANK; ++d) {
        size[d] = uint(record.lists[d]);
        stride[d] = record.lists[RANK + d];
    }
    const uint element = flat_group() * 64u + gl_LocalInvocationID.x;
    if (element >= count) return;
    uint at = 0u;
    if (RANK > 0u) {
        coordinates(element, RANK, size, c);
        at = offset(RANK, c, stride);
    }
    Ints(record.y.address).v[element] = rp_to_index(Longs(record.x.address).v[at]);
}
