// devices: Vulkan
// variants: conv2d_weight_direct: ; conv2d_weight_direct_texel: -DTEXELS
// variants: conv2d_weight_direct_f16: -DFIXED_WIDENING=F16_BY_UNPACK
// variants: conv2d_weight_direct_f16_texel: -DTEXELS -DFIXED_WIDENING=F16_BY_UNPACK
// variants: conv2d_weight_direct_bf16: -DFIXED_WIDENING=BF16_BY_SHIFT
// variants: conv2d_weight_direct_bf16_texel: -DTEXELS -DFIXED_WIDENING=BF16_BY_SHIFT
// variants: conv2d_weight_direct_point: -DPOINT ; conv2d_weight_direct_point_texel: -DPOINT -DTEXELS
// variants: conv2d_weight_direct_point_f16: -DPOINT -DFIXED_WIDENING=F16_BY_UNPACK
// variants: conv2d_weight_direct_point_f16_texel: -DPOINT -DTEXELS -DFIXED_WIDENING=F16_BY_UNPACK
// variants: conv2d_weight_direct_point_bf16: -DPOINT -DFIXED_WIDENING=BF16_BY_SHIFT
// variants: conv2d_weight_direct_point_bf16_texel: -DPOINT -DTEXELS -DFIXED_WIDENING=BF16_BY_SHIFT
// dw is the gradient by the weight (common/conv_direct.glsl). A group is one subgroup and computes 32 output channels,
// 4 per lane, by 2 input channels (with POINT 8), over some of the images. If there are fewer output channels, lanes
// share the pixels.
//
// Numeric class: part p of `parts` sums the images from floor(p N / parts) on; the S = 8 / LANES lanes with the same
// channels each process 32 / S of 32 pixels. A lane sums these in order, starting at +0, and adds the sum to its total:
// one tile of 32 pixels after the other, and one image after the other within a tile. Finally lanes are added in pairs,
// s with s ^ (S / 2), s ^ (S / 4), ...
//
//   x          [N, Ci, H, W], dy [N][OH * OW] rows of `pitch` elements: [Co]
//   sums       [parts][Co][Ci][taps]
//   constants  0 to 2: common/conv_direct.glsl; 3: CHANNELS, Ci if that is constant and below SIDE, else
//              SIDE; 4: LANES, the number of lanes with different output channels: 8, 4, 2, 1
//   groups     parts * ceil(Co / (4 LANES)) * ceil(Ci / SIDE)
//   requires   16-byte aligned operands, pitch a multiple of 4; and common/conv_direct.glsl
//   texel      x and dy in the slab
#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef TEXELS
#define SLAB
#endif
#include "common/abi.glsl"
#include "common/conv_direct.glsl"

#ifdef POINT
const uint SIDE = 8u; // input channels per group
#define EACH_CHANNEL(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
#else
const uint SIDE = 2u;
#define EACH_CHANNEL(F) F(0) F(1)
#endif
layout(constant_id = 3) const uint CHANNELS = 8;
layout(constant_id = 4) const uint LANES = 8;

RECORD(conv2d_weight_direct)
INPUT(x) INPUT(dy) OUTPUT(sums)
INT(images) INT(in_channels) INT(height) INT(width) INT(out_channels) INT(out_height) INT(out_width)
INT(parts) INT(pitch)
END_RECORD

#define FOUR(F, a, i) F(a, i) F(a, i + 1) F(a, i + 2) F(a, i + 3)
#define EACH_PIXEL(F, a)                                                         \
    FOUR(F, a, 0) FOUR(F, a, 4) FOUR(F, a, 8) FOUR(F, a, 12)                     \
    FOUR(F, a, 16) FOUR(F, a, 20) FOUR(F, a, 24) FOUR(F, a, 28)
#define LOAD_DY(unused, i)                                                                         \
    if (i < STEPS)                                                                                 \
        gradient[i] = IMAGE(dy, dy_at + min(pixel + i, last_pixel) * pitch4);
#define BROADCAST(v, i) subgroupShuffle(v[(i) % 4], from + (i) / 4)
#ifdef POINT
#define MULTIPLY(taps, i) \
    if (i < STEPS)        \
        part0 += BROADCAST(taps.at[0], i) * gradient[i];
#else
#define MULTIPLY(taps, i)                                        \
    if (i < STEPS) {                                             \
        part0 += BROADCAST(taps.at[0], i) * gradient[i];         \
        part1 += BROADCAST(taps.at[1], i) * gradient[i];         \
        part2 += BROADCAST(taps.at[2], i) * gradient[i];         \
    }
#endif
#define ROW(c, ky)                                                                             \
    {                                                                                          \
        const Taps taps = taps_of(x, x_at + min(c, last_in) * image4, p, ky, true);            \
        precise vec4 part0 = vec4(0.0), part1 = part0, part2 = part0;                          \
        EACH_PIXEL(MULTIPLY, taps)                                                             \
        ADD(c, ky)                                                                             \
    }
#ifdef POINT
#define ADD(c, ky) sum[c][0] += part0;
#define CHANNEL(c) if (c < CHANNELS) ROW(c, 0)
#else
#define ADD(c, ky)                     \
    sum[c][ky * 3] += part0;           \
    sum[c][ky * 3 + 1] += part1;       \
    sum[c][ky * 3 + 2] += part2;
#define CHANNEL(c) if (c < CHANNELS) { ROW(c, 0) ROW(c, 1) ROW(c, 2) }
#endif
#define CLEAR_TAP(c, k) sum[c][k] = vec4(0.0);
#define CLEAR(c) EACH_TAP(CLEAR_TAP, c)
#define ADD_LANES(c, k)                                                                \
    if (LANES < 8u) sum[c][k] += subgroupShuffle(sum[c][k], lane ^ 4u);                \
    if (LANES < 4u) sum[c][k] += subgroupShuffle(sum[c][k], lane ^ 2u);                \
    if (LANES < 2u) sum[c][k] += subgroupShuffle(sum[c][k], lane ^ 1u);
#define STORE_TAP(c, k)                                                                \
    for (uint j = 0u; j < 4u; ++j)                                                     \
        if (out_channel + j < Co)                                                      \
            to.v[to_at + (j * Ci + c) * uint(TAPS) + k] = sum[c][k][j];
#define STORE(c)                                                                       \
    EACH_TAP(ADD_LANES, c)                                                             \
    if (lane < LANES && c <= last_in) {                                                \
        EACH_TAP(STORE_TAP, c)                                                         \
    }

void main()
{
    const uint N = record.images, Ci = record.in_channels, H = record.height, W = record.width,
               Co = record.out_channels, OH = record.out_height, OW = record.out_width, parts = record.parts,
               pitch4 = uint(record.pitch) / 4u;
    const Operand x = record.x, dy = record.dy;
    Floats to = Floats(record.sums.address);
    const uint lane = gl_SubgroupInvocationID, STEPS = 4u * LANES;
    const uint across = (Ci + SIDE - 1u) / SIDE, down = (Co + 4u * LANES - 1u) / (4u * LANES);
    const uint strip = quotient(flat_group(), across), part = quotient(strip, down);
    if (part >= parts)
        return;
    const uint in_channel = (flat_group() - strip * across) * SIDE;
    const uint out_channel = (strip - part * down) * 4u * LANES + lane % LANES * 4u;
    const int last_in = int(min(Ci - in_channel, SIDE)) - 1;
    const int image4 = int(H * W / 4u);
    const uint out_image = OH * OW, tiles = (out_image + 31u) / 32u, last_pixel = out_image - 1u;
    const uint share = lane / LANES, from = share * LANES; // share of the pixels, and the first lane that has it

    precise vec4 sum[SIDE][TAPS];
    EACH_CHANNEL(CLEAR)
    const uint begin = quotient(part * N, parts), end = quotient((part + 1u) * N, parts);
    for (uint tile = 0u; tile < tiles; ++tile) {
        Pixels p = pixels_of(tile, H, W, OH, OW);
        p.end = int(N * Ci) * image4;
        const uint pixel = tile * 32u + share * STEPS;
        int x_at = int(begin * Ci + in_channel) * image4;
        uint dy_at = begin * out_image * pitch4 + min(out_channel / 4u, pitch4 - 1u);
        for (uint n = begin; n < end; ++n) {
            vec4 gradient[32];
            EACH_PIXEL(LOAD_DY, _)
            EACH_CHANNEL(CHANNEL)
            x_at += int(Ci) * image4;
            dy_at += out_image * pitch4;
        }
    }
    const uint to_at = ((part * Co + out_channel) * Ci + in_channel) * uint(TAPS);
    EACH_CHANNEL(STORE)
}
