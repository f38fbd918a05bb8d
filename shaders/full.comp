#version 460
// Fills a tensor with one value.
//
//   number     the value, for floating dtypes; whole: for the others; for i64 two ints, the low one first
//   groups     ceil(count / 256)
// variants: full: ; full_texel: -DTEXELS ; full_f64: -DDOUBLE ; full_i64: -DLONG
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/dtypes.glsl"

layout(local_size_x = 64) in;

layout(constant_id = 0) const uint DTYPE = 0;

RECORD(full)
OUTPUT(y)
FLOAT(number)
INT(count)
LIST(whole)
END_RECORD

void main()
{
    const REAL number = record.number;
    const uint count = uint(record.count);
    const int whole = record.lists[0];
    const Operand to = record.y;
    const uint group = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x; // of 4 elements
    if (4u * group >= count)
        return;
#if defined(DOUBLE)
    for (uint e = 4u * group; e < min(4u * group + 4u, count); ++e) Reals(to.address).v[e] = number;
#elif defined(LONG)
    const uvec2 words = uvec2(whole, record.lists[1]);
    for (uint e = 4u * group; e < min(4u * group + 4u, count); ++e) Longs(to.address).v[e] = words;
#else
    const bool floating = DTYPE == DTYPE_F32 || is_half(DTYPE);
    const uvec4 bits = floating ? bits_of(vec4(number), DTYPE) : bits_of(ivec4(whole), DTYPE);
#ifdef TEXELS
    slab_window[WINDOW_OF(to.texel)].v[IN_WINDOW(to.texel) + group] = uintBitsToFloat(bits);
#else
    store4_bits(to.address, DTYPE, group, bits);
#endif
#endif
}
