// variants: conv2d_swap: ; conv2d_swap_texel: -DTEXEL ; conv2d_swap_f64: -DDOUBLE
// devices: Vulkan, CUDA in f64
// Swaps batch and channels around an image of Q elements: to[b][a][q] = from[a][b][q], plus bias[a].
// [Co][N * Q] becomes an output [N, Co, Q], and a gradient [N, Co, Q] becomes [Co][N * Q].
//
//   operands  from [A][B][Q] with rows of `from_pitch`, bias [A], to [B][A][Q] with rows of `to_pitch`, whose
//             surplus gets zeros
//   ints      A, B, Q, from_pitch, to_pitch
//   constant  0: whether there is a bias
//   groups    ceil(B * to_pitch / 64); conv2d_swap_texel: ceil(B * to_pitch / 256)
//   conv2d_swap_texel requires  the operands in the slab, `to` inside a window; Q and pitches multiples of 4
#version 460
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 3
#define FLOATS 0
#define SLAB
#include "common/abi.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint BIAS = 0;

#ifdef TEXEL
void main()
{
    const uint A = record.n[0], B = record.n[1], Q4 = record.n[2] / 4u, from_pitch4 = record.n[3] / 4u,
               to_pitch4 = record.n[4] / 4u;
    const uint from = record.operand[0].texel, bias = record.operand[1].texel, to = record.operand[2].texel;
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
    const uint A = record.n[0], B = record.n[1], Q = record.n[2], from_pitch = record.n[3],
               to_pitch = record.n[4];
    Reals from = Reals(record.operand[0].address), bias = Reals(record.operand[1].address),
           to = Reals(record.operand[2].address);
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
