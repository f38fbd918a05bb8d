// variants: im2col: ; im2col_texel: -DTEXEL
// The patches of a convolution as the columns of a matrix: col[(ci, ky, kx)][(n, oy, ox)] is
// x[n][ci][oy * stride - padding + ky][...], 0 outside of the image and in columns that fill up the pitch.
//
//   operands  x [N, Ci, H, W] contiguous, col [Ci * kh * kw][pitch]
//   ints      N, Ci, H, W, OH, OW, kh, kw, stride y, stride x, padding y, padding x, pitch
//   groups    Ci * ceil(pitch / 64)
//             im2col_texel: Ci * ceil(N * ceil(OH * OW / 16) / 64)
//   im2col_texel requires  both operands in the slab, col inside a window; strides of 1, OW == W >= 4,
//             OH * OW a multiple of 4, pitch == N * OH * OW
#version 460
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 2
#define FLOATS 0
#define SLAB
#include "common/abi.glsl"
#include "common/conv.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;

#ifdef TEXEL
// As the output is as wide as the image, output element q reads the image's element
// q + (ky - padding y) * W + kx - padding x: four neighbours read four neighbours, begun anywhere in a texel.
// An invocation makes the same 16 columns of all rows of one channel.
const int TEXELS = 4;

void main()
{
    const uint N = record.n[0], channels = record.n[1], H = record.n[2], W = record.n[3],
               Q4 = record.n[4] * W / 4u, kh = record.n[6], kw = record.n[7], pitch4 = record.n[12] / 4u;
    const int padding_y = record.n[10], padding_x = record.n[11];
    const uint image = record.operand[0].texel, col = record.operand[1].texel;

    const uint blocks = (Q4 + TEXELS - 1u) / TEXELS, across = (N * blocks + 63u) / 64u;
    const uint channel = flat_group() / across;
    const uint block = (flat_group() - channel * across) * 64u + gl_LocalInvocationID.x;
    if (channel >= channels || block >= N * blocks) return;
    const uint n = quotient(block, blocks), texel = (block - n * blocks) * TEXELS;
    const uint oy = quotient(4u * texel, W);

    Four at[TEXELS];
    at[0] = Four(ivec4(int(oy) - padding_y), ivec4(int(4u * texel - oy * W) - padding_x) + ivec4(0, 1, 2, 3));
    wrap(at[0], int(W) - padding_x, int(W));
    for (int i = 1; i < TEXELS; ++i) {
        at[i] = Four(at[i - 1].row, at[i - 1].column + 4);
        wrap(at[i], int(W) - padding_x, int(W));
    }

    int row_at = int((n * channels + channel) * H * W + 4u * texel) - padding_y * int(W) - padding_x;
    uint col_at = IN_WINDOW(col) + channel * kh * kw * pitch4 + n * Q4 + texel;
    uint ky = 0u;
    do {
        bvec4 inside[TEXELS];
        for (int i = 0; i < TEXELS; ++i) inside[i] = lessThan(uvec4(at[i].row + int(ky)), uvec4(H));
        int first = int(image) + (row_at >> 2);
        uint by = uint(row_at & 3);
        vec4 x[TEXELS + 1];
        for (int i = 0; i <= TEXELS; ++i) x[i] = texelFetch(slab, first + i);
        uint kx = 0u;
        do {
            for (int i = 0; i < TEXELS; ++i) {
                const bvec4 in_row = lessThan(uvec4(at[i].column + int(kx)), uvec4(W));
                const vec4 v = mix(vec4(0.0), shifted(x[i], x[i + 1], by), in_row);
                if (texel + i < Q4) slab_window[WINDOW_OF(col)].v[col_at + i] = mix(vec4(0.0), v, inside[i]);
            }
            col_at += pitch4;
            ++by;
            const bool next = by == 4u;
            by &= 3u;
            first += int(next);
            for (int i = 0; i < TEXELS; ++i) x[i] = next ? x[i + 1] : x[i];
            x[TEXELS] = texelFetch(slab, first + TEXELS);
        } while (++kx < kw);
        row_at += int(W);
    } while (++ky < kh);
}
#else
// An invocation makes one column of all rows of one channel.
void main()
{
    const uint N = record.n[0], channels = record.n[1], H = record.n[2], W = record.n[3], OH = record.n[4],
               OW = record.n[5], kh = record.n[6], kw = record.n[7], pitch = record.n[12];
    const ivec2 stride = ivec2(record.n[9], record.n[8]), padding = ivec2(record.n[11], record.n[10]);
    Words image = Words(record.operand[0].address), col = Words(record.operand[1].address);

    const uint across = (pitch + 63u) / 64u;
    const uint channel = flat_group() / across;
    const uint column = (flat_group() - channel * across) * 64u + gl_LocalInvocationID.x;
    if (channel >= channels || column >= pitch) return;
    const uint line = quotient(column, OW), n = quotient(line, OH);
    const int top = int(line - n * OH) * stride.y - padding.y,
              left = int(column - line * OW) * stride.x - padding.x;
    const int plane = int((n * channels + channel) * H * W);
    uint col_at = channel * kh * kw * pitch + column;
    for (uint ky = 0u; ky < kh; ++ky) {
        const int y = top + int(ky);
        for (uint kx = 0u; kx < kw; ++kx) {
            const int x = left + int(kx);
            uint value = 0u;
            if (n < N && uint(y) < H && uint(x) < W) value = image.v[plane + y * int(W) + x];
            col.v[col_at] = value;
            col_at += pitch;
        }
    }
}
#endif
