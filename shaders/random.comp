#version 460
// Random numbers, as ops/philox.inc defines them.
//
//   least      the smallest integer, as a word; values: the number of different integers
//   groups     ceil(count / 256)
// variants: random_uniform: ; random_normal: -DNORMAL ; random_integers: -DINTEGERS
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/philox.glsl"
#include "common/dtypes.glsl"

layout(local_size_x = 64) in;

#ifdef INTEGERS
RECORD(random_integers)
OUTPUT(y)
INT(count) MEMBER(RandomState, random)
INT(least) INT(values)
END_RECORD
#else
layout(constant_id = 0) const uint DTYPE = 0;

RECORD(random_uniform)
OUTPUT(y)
INT(count) MEMBER(RandomState, random)
END_RECORD
#endif

void main()
{
    const uint count = uint(record.count);
    const RandomState random = record.random;
#ifdef INTEGERS
    const uint low = uint(record.least), values = uint(record.values);
#endif
    const Operand to = record.y;
    const uint group = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x; // of 4 elements
    if (4u * group >= count)
        return;
    const rp_words w = draw_group(random, group);
#ifdef INTEGERS
    const uvec4 v = low + uvec4(rp_umulhi(w.x, values), rp_umulhi(w.y, values), rp_umulhi(w.z, values),
                                rp_umulhi(w.w, values));
    Words words = Words(to.address);
    for (uint i = 0u; i < min(4u, count - 4u * group); ++i) words.v[4u * group + i] = v[i];
#else
#ifdef NORMAL
    const vec4 v = vec4(rp_normal_first(w.x, w.y), rp_normal_second(w.x, w.y), rp_normal_first(w.z, w.w),
                        rp_normal_second(w.z, w.w));
#else
    const vec4 v = vec4(rp_uniform(w.x), rp_uniform(w.y), rp_uniform(w.z), rp_uniform(w.w));
#endif
    store4_bits(to.address, DTYPE, group, bits_of(v, DTYPE));
#endif
}
