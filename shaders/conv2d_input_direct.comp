// devices: Vulkan
// variants: conv2d_input_direct: ; conv2d_input_direct_texel: -DTEXELS
// variants: conv2d_input_direct_f16: -DFIXED_WIDENING=F16_BY_UNPACK
// variants: conv2d_input_direct_f16_texel: -DTEXELS -DFIXED_WIDENING=F16_BY_UNPACK
// variants: conv2d_input_direct_bf16: -DFIXED_WIDENING=BF16_BY_SHIFT
// variants: conv2d_input_direct_bf16_texel: -DTEXELS -DFIXED_WIDENING=BF16_BY_SHIFT
// variants: conv2d_input_direct_point: -DPOINT ; conv2d_input_direct_point_texel: -DPOINT -DTEXELS
// variants: conv2d_input_direct_point_f16: -DPOINT -DFIXED_WIDENING=F16_BY_UNPACK
// variants: conv2d_input_direct_point_f16_texel: -DPOINT -DTEXELS -DFIXED_WIDENING=F16_BY_UNPACK
// variants: conv2d_input_direct_point_bf16: -DPOINT -DFIXED_WIDENING=BF16_BY_SHIFT
// variants: conv2d_input_direct_point_bf16_texel: -DPOINT -DTEXELS -DFIXED_WIDENING=BF16_BY_SHIFT
// dx is the gradient by the input, for windows with a stride of 2 (common/conv_direct.glsl). A group is one subgroup
// and computes 8 input channels for 32 pixels of dy. Pixel (a, b) of dy and its right and lower neighbours contribute
// to the pixels (2a, 2b) to (2a + 1, 2b + 1) of dx.
//
// Numeric class: for each pixel a sum over (output channel, ky, kx) ascending of the windows that contain it, in
// chunks of 64 channels as in conv2d_direct.
//
//   dy         [N, Co, OH, OW], dx [N, Ci, H, W]
//   weight     [Ci] rows of `pitch` elements: [ceil(Co / 4) * 4][taps], flipped (conv2d_flip)
//   constants  0: EDGES, 1: 1, 2: 0 (of common/conv_direct.glsl, which reads dy); 3: EVEN, promises that
//              Co % 4 is 0
//   groups     N * ceil(OH * OW / 32) * ceil(Ci / 8)
//   requires   16-byte aligned operands, OW a multiple of 4, W = 2 OW
//   texel      dy and w in the slab, dx in one window, unless it is f16 or bf16
#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef TEXELS
#define SLAB
#endif
#include "common/abi.glsl"
#include "common/conv_direct.glsl"
layout(constant_id = 3) const bool EVEN = false;

RECORD(conv2d_input_direct)
INPUT(dy) INPUT(weight) OUTPUT(dx)
INT(images) INT(out_channels) INT(out_height) INT(out_width) INT(in_channels) INT(height) INT(width) INT(pitch)
END_RECORD

const uint ROWS = 8u;   // input channels per group
const uint STEP = 4u;   // output channels loaded per iteration: one texel of weights for each tap
const uint CHUNK = 64u; // output channels per chunk

#define EACH_ROW(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
#ifdef POINT
#define CHANNEL(row, c) sum[row * 4] += subgroupShuffle(weight[0][c], row) * here##c.at[0];
#else
// The weights are flipped: the factor of the window's element (ky, kx) is at index 8 - 3 ky - kx.
#define WEIGHT(row, c, ky, kx) \
    subgroupShuffle(weight[(c * 9 + 8 - ky * 3 - kx) / 4][(c * 9 + 8 - ky * 3 - kx) % 4], row)
#define MULTIPLY(row, quarter, c, ky, kx, from) sum[row * 4 + quarter] += WEIGHT(row, c, ky, kx) * from;
#define CHANNEL(row, c)                                \
    MULTIPLY(row, 0, c, 1, 1, here##c.at[1])           \
    MULTIPLY(row, 1, c, 1, 0, here##c.at[2])           \
    MULTIPLY(row, 1, c, 1, 2, here##c.at[1])           \
    MULTIPLY(row, 2, c, 0, 1, below##c.at[1])          \
    MULTIPLY(row, 2, c, 2, 1, here##c.at[1])           \
    MULTIPLY(row, 3, c, 0, 0, below##c.at[2])          \
    MULTIPLY(row, 3, c, 0, 2, below##c.at[1])          \
    MULTIPLY(row, 3, c, 2, 0, here##c.at[2])           \
    MULTIPLY(row, 3, c, 2, 2, here##c.at[1])
#endif
#define ONE_ROW(row) EACH_4(CHANNEL, row)
#define LOAD_ROW(name, ky, c) \
    const Taps name##c = taps_of(dy, dy_at + min(c, left) * image4, p, ky, c <= left);
#ifdef POINT
#define LOAD(unused, c) LOAD_ROW(here, 0, c)
#else
#define LOAD(unused, c) LOAD_ROW(here, 1, c) LOAD_ROW(below, 2, c)
#endif
#define LOAD_WEIGHT(unused, i) weight[i] = FETCH(w, w_at + i);
#define CLEAR_QUARTER(row, q) sum[row * 4 + q] = total[row * 4 + q] = vec4(0.0);
#define CLEAR(row) EACH_4(CLEAR_QUARTER, row)
#define END_QUARTER(row, q)                    \
    total[row * 4 + q] += sum[row * 4 + q];    \
    sum[row * 4 + q] = vec4(0.0);
#define END_CHUNK(row) EACH_4(END_QUARTER, row)
#define PUT_PAIR(at, even, odd)                                            \
    PUT(dx, at, vec4(even.x, odd.x, even.y, odd.y))                        \
    PUT(dx, at + 1u, vec4(even.z, odd.z, even.w, odd.w))
#define STORE(row)                                                                       \
    if (p.exists && row < rows) {                                                        \
        const uint at = dx_at + row * (H * W / 4u);                                      \
        PUT_PAIR(at, total[row * 4], total[row * 4 + 1])                                 \
        if (lower) {                                                                     \
            PUT_PAIR(at + W / 4u, total[row * 4 + 2], total[row * 4 + 3])                \
        }                                                                                \
    }

void main()
{
    const uint N = record.images, Co = record.out_channels, OH = record.out_height, OW = record.out_width,
               Ci = record.in_channels, H = record.height, W = record.width, pitch4 = uint(record.pitch) / 4u;
    const Operand dy = record.dy, w = record.weight, dx = record.dx;
    const uint strips = (Ci + ROWS - 1u) / ROWS, image = OH * OW / 4u, tiles = (image + 7u) / 8u;
    const uint place = quotient(flat_group(), strips), n = quotient(place, tiles);
    if (n >= N)
        return;
    const uint channel = (flat_group() - place * strips) * ROWS, rows = Ci - channel;
    const int image4 = int(image);
    Pixels p = pixels_of(place - n * tiles, OH, OW, OH, OW);
    p.end = int(N * Co) * image4;

    precise vec4 sum[ROWS * 4], total[ROWS * 4];
    EACH_ROW(CLEAR)
    int dy_at = int(n * Co) * image4;
    uint w_at = min(channel + gl_SubgroupInvocationID, Ci - 1u) * pitch4;
    uint first = 0u;
    if (Co > 0u) {
        do { // do-while: on lavapipe the iteration that fails the test at the top of a loop runs, too
            const uint end = min(first + CHUNK, Co);
            do {
                const int left = EVEN ? 3 : int(min(Co - first, STEP)) - 1; // the last channel of the step
                vec4 weight[TAPS];
                EACH_TAP(LOAD_WEIGHT, _)
                EACH_4(LOAD, _)
                EACH_ROW(ONE_ROW)
                dy_at += int(STEP) * image4;
                w_at += uint(TAPS);
                first += STEP;
            } while (first < end);
            EACH_ROW(END_CHUNK)
        } while (first < Co);
    }
    const uint a = quotient(p.out_at, OW / 4u), b = p.out_at - a * (OW / 4u);
    const bool lower = 2u * a + 1u < H;
    const uint dx_at = ((n * Ci + channel) * H + 2u * a) * (W / 4u) + 2u * b;
    EACH_ROW(STORE)
}
