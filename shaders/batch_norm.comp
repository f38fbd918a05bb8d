// variants: batch_norm: ; batch_norm_texel: -DTEXELS
// y = (x - mean) * scale + bias, per channel.
//
//   x, y      [planes, image]; plane p belongs to channel p % channels
//   affine    [channels] of vec4 (mean, scale, bias, 0)
//   groups    ceil(planes * image / 64); batch_norm_texel: ceil(planes * ceil(image / 32) / 64)
//   texel     all in the slab, y in one window; image a multiple of 4
#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef TEXELS
#define SLAB
#endif
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/repeat.glsl"
layout(local_size_x = 64) in;

RECORD(batch_norm)
INPUT(x) INPUT(affine) OUTPUT(y)
INT(planes) INT(channels) INT(image)
END_RECORD

void main()
{
    const uint planes = record.planes, channels = record.channels, image = record.image;
    const Operand x = record.x, affine = record.affine, y = record.y;
    const uint invocation = flat_group() * 64u + gl_LocalInvocationID.x;
#ifdef TEXELS
    const uint image4 = image / 4u, blocks = (image4 + 7u) / 8u; // of 8 texels
    if (invocation >= planes * blocks)
        return;
    const uint plane = quotient(invocation, blocks), first = (invocation - plane * blocks) * 8u;
    const uint at = plane * image4 + first, left = image4 - first;
    const vec4 a = texelFetch(slab, int(affine.texel + plane - quotient(plane, channels) * channels));
    const uint to = IN_WINDOW(y.texel) + at;
#define LOAD(i) const vec4 x##i = texelFetch(slab, int(x.texel + at + i));
#define STORE(i)                                                       \
    if (i < left) {                                                    \
        precise vec4 y##i = (x##i - a.x) * a.y + a.z;                  \
        slab_window[WINDOW_OF(y.texel)].v[to + i] = y##i;              \
    }
    EACH_8(LOAD)
    EACH_8(STORE)
#else
    if (invocation >= planes * image)
        return;
    const uint plane = quotient(invocation, image);
    const vec4 a = Vec4s(affine.address).v[plane - quotient(plane, channels) * channels];
    precise float v = (Floats(x.address).v[invocation] - a.x) * a.y + a.z;
    Floats(y.address).v[invocation] = v;
#endif
}
