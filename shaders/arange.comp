#version 460
// 0, 1, ..., count - 1.
//
//   groups     ceil(count / 256)
// variants: arange: ; arange_f64: -DDOUBLE ; arange_i64: -DLONG
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/dtypes.glsl"

layout(local_size_x = 64) in;

layout(constant_id = 0) const uint DTYPE = 0;

RECORD(arange)
OUTPUT(y)
INT(count)
END_RECORD

void main()
{
    const uint count = uint(record.count);
    const Operand to = record.y;
    const uint group = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x; // of 4 elements
    if (4u * group >= count)
        return;
#if defined(DOUBLE)
    for (uint e = 4u * group; e < min(4u * group + 4u, count); ++e) Reals(to.address).v[e] = double(e);
#elif defined(LONG)
    for (uint e = 4u * group; e < min(4u * group + 4u, count); ++e) Longs(to.address).v[e] = uvec2(e, 0u);
#else
    store4_bits(to.address, DTYPE, group, bits_of(int(4u * group) + ivec4(0, 1, 2, 3), DTYPE));
#endif
}
