// variants: im2col: ; im2col_texel: -DTEXEL ; im2col_f64: -DDOUBLE
// variants: im2col_dtypes: -DDTYPES ; im2col_texel_dtypes: -DTEXEL -DDTYPES
// not on CUDA: im2col_dtypes
// The patches of a convolution as the columns of a matrix: col[(ci, kz, ky, kx)][(n, oz, oy, ox)] is
// x[n][ci][oz * stride - padding + kz * dilation][...], or 0 outside of the image and in columns that pad to the pitch.
//
//   from      x [N, Ci, D, H, W] contiguous, to col [Ci * kd * kh * kw][pitch]
//   between   distance between the first columns of two images: OD * OH * OW, or more if each image gets its own matrix
//   elements  number of elements of col: not read, but must fit in 32 bits, too
//   constant  with DTYPES 0: the dtype of x, f16 or bf16, while col is f32
//   groups    Ci * ceil(columns / 64)
//             im2col_texel: Ci * ceil(N * ceil(OH * OW / 16) / 64)
//   im2col_texel requires  D, kd and dilations of 1; both operands in the slab, starting at whole texels, col within
//             one window; strides of 1, OW == W >= 4, OH * OW a multiple of 4, pitch == N * OH * OW
#version 460
#extension GL_GOOGLE_include_directive : require
#define SLAB
#include "common/abi.glsl"
#include "common/conv.glsl"
#include "common/index.glsl"
#include "common/windows.glsl"
layout(local_size_x = 64) in;

#ifdef DTYPES
#include "common/vocabulary.glsl"
#include "common/dtypes.glsl"
layout(constant_id = 0) const uint X = 0;
#endif

#ifdef TEXEL
RECORD(im2col_texel)
INPUT(from) OUTPUT(to)
INT(images) INT(channels) INT(height) INT(width) INT(out_height) INT(out_width)
INT(kernel_height) INT(kernel_width) INT(stride_y) INT(stride_x) INT(padding_y) INT(padding_x)
INT(pitch) INT(elements)
END_RECORD
#else
RECORD(im2col)
INPUT(from) OUTPUT(to)
INT(images) INT(channels) MEMBER(Windows, windows)
INT(columns) INT(pitch) INT(between) INT(elements)
END_RECORD
#endif

#ifdef TEXEL
// Since the output is as wide as the image, output element q reads element
// q + (ky - padding y) * W + kx - padding x of the image: four neighbours read four neighbours, which may start within
// a texel. An invocation computes the same 16 columns of all rows of one channel.
const int TEXELS = 4;

// Returns texel `at`, counted as `image` is, the first one of the images.  What lies outside of them is not used.
#ifdef DTYPES
#define LOAD(at) floats_of(load4_bits(address, X, uint(clamp((at) - int(image), 0, last))), X)
#else
#define LOAD(at) texelFetch(slab, at)
#endif

void main()
{
    const uint N = record.images, channels = record.channels, H = record.height, W = record.width,
               Q4 = record.out_height * W / 4u, kh = record.kernel_height, kw = record.kernel_width,
               pitch4 = record.pitch / 4u;
    const int padding_y = record.padding_y, padding_x = record.padding_x;
    const uint image = record.from.texel, col = record.to.texel;
#ifdef DTYPES
    const uvec2 address = record.from.address;
    const int last = int((N * channels * H * W + 3u) / 4u) - 1;
#endif

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
        for (int i = 0; i <= TEXELS; ++i) x[i] = LOAD(first + i);
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
            x[TEXELS] = LOAD(first + TEXELS);
        } while (++kx < kw);
        row_at += int(W);
    } while (++ky < kh);
}
#else
// An invocation computes one column of all rows of one channel.
void main()
{
    const uint N = record.images, channels = record.channels, D = record.windows.in_size[0], H = record.windows.in_size[1],
               W = record.windows.in_size[2], OD = record.windows.out_size[0], OH = record.windows.out_size[1],
               OW = record.windows.out_size[2], kd = record.windows.kernel[0], kh = record.windows.kernel[1],
               kw = record.windows.kernel[2],
               columns = record.columns, pitch = record.pitch, between = record.between;
    const ivec3 stride = XYZ(record.windows.stride),
                padding = XYZ(record.windows.padding),
                dilation = XYZ(record.windows.dilation);
#ifdef DTYPES
    const uvec2 image = record.from.address;
#define ELEMENT(at) floatBitsToUint(load_half(image, X, uint(at)))
#else
    Cells image = Cells(record.from.address);
#define ELEMENT(at) image.v[at]
#endif
    Cells col = Cells(record.to.address);

    const uint across = (columns + 63u) / 64u;
    const uint channel = flat_group() / across;
    const uint column = (flat_group() - channel * across) * 64u + gl_LocalInvocationID.x;
    if (channel >= channels || column >= columns) return;
    const uint line = quotient(column, OW), slice = quotient(line, OH), n = quotient(slice, OD);
    const ivec3 first = ivec3(column - line * OW, line - slice * OH, slice - n * OD) * stride - padding;
    const int volume = int((n * channels + channel) * D * H * W);
    uint col_at = channel * kd * kh * kw * pitch + n * between + column - n * OD * OH * OW;
    for (uint kz = 0u; kz < kd; ++kz) {
        const int z = first.z + int(kz) * dilation.z;
        for (uint ky = 0u; ky < kh; ++ky) {
            const int y = first.y + int(ky) * dilation.y, row = volume + (z * int(H) + y) * int(W);
            const bool present = n < N && uint(z) < D && uint(y) < H;
            for (uint kx = 0u; kx < kw; ++kx) {
                const int x = first.x + int(kx) * dilation.x;
                CELL value = CELL(0);
                if (present && uint(x) < W) value = ELEMENT(row + x);
                col.v[col_at] = value;
                col_at += pitch;
            }
        }
    }
}
#endif
