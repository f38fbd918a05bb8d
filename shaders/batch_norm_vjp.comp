// variants: batch_norm_vjp: ; batch_norm_vjp_texel: -DTEXELS
// dx = dy * a + (x - mean) * b + c, per channel.
//
//   dy, x, dx     [planes, image]; plane p belongs to channel p % channels
//   coefficients  [channels] of vec4 (mean, a, b, c)
//   groups    ceil(planes * image / 64); batch_norm_vjp_texel: ceil(planes * ceil(image / 32) / 64)
//   texel     all in the slab, dx in one window; image a multiple of 4
#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef TEXELS
#define SLAB
#endif
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/repeat.glsl"
layout(local_size_x = 64) in;

RECORD(batch_norm_vjp)
INPUT(dy) INPUT(x) INPUT(coefficients) OUTPUT(dx)
INT(planes) INT(channels) INT(image)
END_RECORD

void main()
{
    const uint planes = record.planes, channels = record.channels, image = record.image;
    const Operand dy = record.dy, x = record.x, by = record.coefficients, dx = record.dx;
    const uint invocation = flat_group() * 64u + gl_LocalInvocationID.x;
#ifdef TEXELS
    const uint image4 = image / 4u, blocks = (image4 + 7u) / 8u; // of 8 texels
    if (invocation >= planes * blocks)
        return;
    const uint plane = quotient(invocation, blocks), first = (invocation - plane * blocks) * 8u;
    const uint at = plane * image4 + first, left = image4 - first;
    const vec4 k = texelFetch(slab, int(by.texel + plane - quotient(plane, channels) * channels));
    const uint to = IN_WINDOW(dx.texel) + at;
#define LOAD(i)                                                        \
    const vec4 g##i = texelFetch(slab, int(dy.texel + at + i));        \
    const vec4 x##i = texelFetch(slab, int(x.texel + at + i));
#define STORE(i)                                                       \
    if (i < left) {                                                    \
        precise vec4 d##i = (g##i * k.y + (x##i - k.x) * k.z) + k.w;   \
        slab_window[WINDOW_OF(dx.texel)].v[to + i] = d##i;             \
    }
    EACH_8(LOAD)
    EACH_8(STORE)
#else
    if (invocation >= planes * image)
        return;
    const uint plane = quotient(invocation, image);
    const vec4 k = Vec4s(by.address).v[plane - quotient(plane, channels) * channels];
    const float g = Floats(dy.address).v[invocation], v = Floats(x.address).v[invocation];
    precise float d = (g * k.y + (v - k.x) * k.z) + k.w;
    Floats(dx.address).v[invocation] = d;
#endif
}
