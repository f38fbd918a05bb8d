// devices: Vulkan
// variants: conv2d_direct: ; conv2d_direct_texel: -DTEXELS
// variants: conv2d_direct_f16: -DFIXED_WIDENING=F16_BY_UNPACK
// variants: conv2d_direct_f16_texel: -DTEXELS -DFIXED_WIDENING=F16_BY_UNPACK
// variants: conv2d_direct_bf16: -DFIXED_WIDENING=BF16_BY_SHIFT
// variants: conv2d_direct_bf16_texel: -DTEXELS -DFIXED_WIDENING=BF16_BY_SHIFT
// variants: conv2d_direct_point: -DPOINT ; conv2d_direct_point_texel: -DPOINT -DTEXELS
// variants: conv2d_direct_point_f16: -DPOINT -DFIXED_WIDENING=F16_BY_UNPACK
// variants: conv2d_direct_point_f16_texel: -DPOINT -DTEXELS -DFIXED_WIDENING=F16_BY_UNPACK
// variants: conv2d_direct_point_bf16: -DPOINT -DFIXED_WIDENING=BF16_BY_SHIFT
// variants: conv2d_direct_point_bf16_texel: -DPOINT -DTEXELS -DFIXED_WIDENING=BF16_BY_SHIFT
// y = conv(x, w) + bias (common/conv_direct.glsl). A group is one subgroup and computes 8 output channels of 32 pixels.
//
// Numeric class: a sum over (channel, ky, kx) ascending, in chunks of 64 channels. The sum of a chunk starts at +0 and
// adds one product after the other, with padding as zeros; the total starts at +0 and adds the sums of the chunks.
//
//   x          [N, Ci, H, W], y [N, Co, OH, OW], bias [Co]
//   weight     [Co] rows of `pitch` elements: [ceil(Ci / 4) * 4][taps]
//   constants  0 to 2: common/conv_direct.glsl; 3: whether there is a bias; 4: CHANNELS, Ci if that is constant and
//              below 4, else 4; 5: EVEN, promises that Ci is a multiple of CHANNELS; 6: OUTPUTS, Co if that is
//              constant and below 8, else 8
//   groups     N * ceil(OH * OW / 32) * ceil(Co / 8)
//   requires   16-byte aligned operands, pitch a multiple of 4; and common/conv_direct.glsl
//   texel      x and w in the slab, y in one window, unless it is f16 or bf16
#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef TEXELS
#define SLAB
#endif
#include "common/abi.glsl"
#include "common/conv_direct.glsl"
layout(constant_id = 3) const bool BIAS = false;
layout(constant_id = 4) const uint CHANNELS = 4;
layout(constant_id = 5) const bool EVEN = false;
layout(constant_id = 6) const uint OUTPUTS = 8;

RECORD(conv2d_direct)
INPUT(x) INPUT(weight) INPUT(bias) OUTPUT(y)
INT(images) INT(in_channels) INT(height) INT(width) INT(out_channels) INT(out_height) INT(out_width) INT(pitch)
END_RECORD

const uint ROWS = 8u;   // output channels per group
const uint STEP = 4u;   // input channels loaded per iteration: one texel of weights for each tap
const uint CHUNK = 64u; // input channels per chunk

#define EACH_ROW(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
// k is the row-major index of (channel, ky, kx) within a step.
#define WEIGHT(row, k) subgroupShuffle(weight[(k) / 4][(k) % 4], row)
#define MULTIPLY(row, k, tap) sum[row] += WEIGHT(row, k) * tap;
// Processes four rows at a time, so that their sums stay in registers.
#define MULTIPLY_4(row, k, tap)                                          \
    MULTIPLY(row, k, tap)                                                \
    MULTIPLY(row + 1, k, tap)                                            \
    MULTIPLY(row + 2, k, tap)                                            \
    MULTIPLY(row + 3, k, tap)
#define TAP(row, c, ky, kx) MULTIPLY_4(row, c * TAPS + ky * 3 + kx, t##c##ky.at[kx])
#ifdef POINT
#define WINDOW(row, c) TAP(row, c, 0, 0)
#else
#define WINDOW_ROW(row, c, ky) TAP(row, c, ky, 0) TAP(row, c, ky, 1) TAP(row, c, ky, 2)
#define WINDOW(row, c) WINDOW_ROW(row, c, 0) WINDOW_ROW(row, c, 1) WINDOW_ROW(row, c, 2)
#endif
#define PRESENT_WINDOW(row, c) if (c < CHANNELS) { WINDOW(row, c) }
#define FOUR_ROWS(row) if (row < OUTPUTS) { EACH_4(PRESENT_WINDOW, row) }
#define LOAD_ROW(c, ky) const Taps t##c##ky = taps_of(x, x_at + min(c, left) * image4, p, ky, c <= left);
#define LOAD(c) EACH_ROW_OF_TAPS(LOAD_ROW, c)
#define LOAD_WEIGHT(unused, i) weight[i] = FETCH(w, w_at + i);
#define CLEAR(row) sum[row] = total[row] = vec4(0.0);
#define END_CHUNK(row) total[row] += sum[row];
#define CLEAR_SUM(row) sum[row] = vec4(0.0);
#define STORE(row)                                                                                   \
    if (p.exists && row < rows) {                                                                    \
        precise vec4 result = total[row];                                                            \
        if (BIAS)                                                                                    \
            result += Floats(bias.address).v[channel + row];                                         \
        PUT(y, y_at + row * out_image4, result)                                                      \
    }

void main()
{
    const uint N = record.images, Ci = record.in_channels, H = record.height, W = record.width,
               Co = record.out_channels, OH = record.out_height, OW = record.out_width,
               pitch4 = uint(record.pitch) / 4u;
    const Operand x = record.x, w = record.weight, bias = record.bias, y = record.y;
    const uint strips = (Co + ROWS - 1u) / ROWS, out_image4 = OH * OW / 4u, tiles = (out_image4 + 7u) / 8u;
    const uint place = quotient(flat_group(), strips), n = quotient(place, tiles);
    if (n >= N)
        return;
    const uint channel = (flat_group() - place * strips) * ROWS, rows = Co - channel;
    const int image4 = int(H * W / 4u);
    Pixels p = pixels_of(place - n * tiles, H, W, OH, OW);
    p.end = int(N * Ci) * image4;

    precise vec4 sum[ROWS], total[ROWS];
    EACH_ROW(CLEAR)
    int x_at = int(n * Ci) * image4;
    uint w_at = min(channel + gl_SubgroupInvocationID, Co - 1u) * pitch4;
    uint first = 0u;
    if (Ci > 0u) {
        do { // do-while: on lavapipe the iteration that fails the test at the top of a loop runs, too
            const uint end = min(first + CHUNK, Ci);
            do {
                const uint here = EVEN ? CHANNELS : min(Ci - first, STEP); // channels of this step
                const int left = int(here) - 1;
                vec4 weight[TAPS];
                EACH_TAP(LOAD_WEIGHT, _)
                LOAD(0) LOAD(1) LOAD(2) LOAD(3)
                FOUR_ROWS(0) FOUR_ROWS(4)
                x_at += int(STEP) * image4;
                w_at += uint(TAPS);
                first += STEP;
            } while (first < end);
            EACH_ROW(END_CHUNK)
            EACH_ROW(CLEAR_SUM)
        } while (first < Ci);
    }
    const uint y_at = (n * Co + channel) * out_image4 + p.out_at;
    EACH_ROW(STORE)
}
