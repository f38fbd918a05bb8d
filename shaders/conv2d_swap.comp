// variants: conv2d_swap: ; conv2d_swap_texel: -DTEXEL ; conv2d_swap_f64: -DDOUBLE
// Swaps batch and channels around an image of Q elements: to[b][a][q] = from[a][b][q], plus bias[a].
// [Co][N * Q] becomes an output [N, Co, Q], and a gradient [N, Co, Q] becomes [Co][N * Q].
//
//   from      [a][b][image] with rows of `from_pitch` elements, bias [a]
//   to        [b][a][image] with rows of `to_pitch` elements, padded with zeros
//   constant  0: whether there is a bias
//   groups    ceil(b * to_pitch / 64); conv2d_swap_texel: ceil(b * to_pitch / 256)
//   conv2d_swap_texel requires  the operands in the slab, `to` inside a window; image and pitches multiples of 4
#version 460
#extension GL_GOOGLE_include_directive : require
#define SLAB
#include "common/abi.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint BIAS = 0;

RECORD(conv2d_swap)
INPUT(from) INPUT(bias) OUTPUT(to)
INT(a) INT(b) INT(image) INT(from_pitch) INT(to_pitch)
END_RECORD

#ifdef TEXEL
void main()
{
    const uint A = record.a, B = record.b, Q4 = record.image / 4u, from_pitch4 = record.from_pitch / 4u,
               to_pitch4 = record.to_pitch / 4u;
    const uint from = record.from.texel, bias = record.bias.texel, to = record.to.texel;
    const uint texel = flat_group() * 64u + gl_LocalInvocationID.x;
    if (texel >= B * to_pitch4) return;
    const uint b = quotient(texel, to_pitch4), column = texel - b * to_pitch4;
    const uint a = quotient(column, Q4), q = column - a * Q4;
    REAL4 v = texelFetch(slab, int(from + a * from_pitch4 + b * Q4 + q));
    if (BIAS != 0u) {
        const REAL4 four = texelFetch(slab, int(bias + (a >> 2)));
        const vec2 two = (a & 2u) != 0u ? four.zw : four.xy;
        precise REAL4 sum = v + ((a & 1u) != 0u ? two.y : two.x);
        v = sum;
    }
    slab_window[WINDOW_OF(to)].v[IN_WINDOW(to) + texel] = a < A ? v : REAL4(0.0);
}
#else
void main()
{
    const uint A = record.a, B = record.b, Q = record.image, from_pitch = record.from_pitch,
               to_pitch = record.to_pitch;
    Reals from = Reals(record.from.address), bias = Reals(record.bias.address), to = Reals(record.to.address);
    const uint element = flat_group() * 64u + gl_LocalInvocationID.x;
    if (element >= B * to_pitch) return;
    const uint b = quotient(element, to_pitch), column = element - b * to_pitch;
    const uint a = quotient(column, Q), q = column - a * Q;
    precise REAL v = 0.0;
    if (a < A) {
        v = from.v[a * from_pitch + b * Q + q];
        if (BIAS != 0u) v += bias.v[a];
    }
    to.v[element] = v;
}
#endif
