#version 460
// y = dropped ? 0 : x * scale; ops/philox.inc says which elements are dropped.
//
//   x, y       contiguous
//   threshold  the probability in units of 2^-24
//   groups     ceil(count / 256)
// variants: dropout: ; dropout_texel: -DTEXELS ; dropout_f64: -DDOUBLE
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/philox.glsl"
#include "common/dtypes.glsl"

layout(local_size_x = 64) in;

layout(constant_id = 0) const uint DTYPE = 0;

RECORD(dropout)
INPUT(x) OUTPUT(y)
FLOAT(scale)
INT(count) INT(threshold) MEMBER(RandomState, random)
END_RECORD

void main()
{
    const REAL scale = record.scale;
    const uint count = uint(record.count), threshold = uint(record.threshold);
    const RandomState random = record.random;
    const Operand from = record.x, to = record.y;
    const uint group = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x; // of 4 elements
    if (4u * group >= count)
        return;
#ifdef TEXELS
    const vec4 x = texelFetch(slab, int(from.texel + group));
#elif defined(DOUBLE)
    Reals source = Reals(from.address), target = Reals(to.address);
    const uvec4 e = min(4u * group + uvec4(0u, 1u, 2u, 3u), uvec4(count - 1u));
    const dvec4 x = dvec4(source.v[e.x], source.v[e.y], source.v[e.z], source.v[e.w]);
#else
    const vec4 x = floats_of(load4_bits(from.address, DTYPE, group), DTYPE);
#endif
    const rp_words w = draw_group(random, group);
    precise REAL4 y = x * scale;
    y.x = rp_dropped(w.x, threshold) ? 0.0 : y.x;
    y.y = rp_dropped(w.y, threshold) ? 0.0 : y.y;
    y.z = rp_dropped(w.z, threshold) ? 0.0 : y.z;
    y.w = rp_dropped(w.w, threshold) ? 0.0 : y.w;
#ifdef TEXELS
    slab_window[WINDOW_OF(to.texel)].v[IN_WINDOW(to.texel) + group] = y;
#elif defined(DOUBLE)
    for (uint i = 0u; i < 4u; ++i)
        if (4u * group + i < count) target.v[4u * group + i] = y[i];
#else
    store4_bits(to.address, DTYPE, group, bits_of(y, DTYPE));
#endif
}
