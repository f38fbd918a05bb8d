// variants: col2im: ; col2im_texel: -DTEXEL ; col2im_f64: -DDOUBLE
// The transpose of im2col: dx[n][ci][z][y][x] is the sum over the windows that contain it, kz, ky and kx ascending, of
// dcol[(ci, kz, ky, kx)][(n, oz, oy, ox)]. The sum starts at +0, so adding a 0 for a window outside changes no bit.
//
//   from      dcol [Ci * kd * kh * kw][pitch], to dx [N, Ci, D, H, W] contiguous; the rest as in im2col
//   constant  0: whether a dilation is more than 1 (col2im)
//   groups    ceil(N * Ci * D * H * W / 64)
//             col2im_texel: ceil(N * Ci * ceil(H * W / 16) / 64)
//   col2im_texel requires  D, kd and dilations of 1; both operands in the slab, dx within one window; strides of 1,
//             OW == W >= 4, H * W and pitch multiples of 4
#version 460
#extension GL_GOOGLE_include_directive : require
#define SLAB
#include "common/abi.glsl"
#include "common/conv.glsl"
#include "common/index.glsl"
#include "common/windows.glsl"
layout(local_size_x = 64) in;

#ifdef TEXEL
RECORD(col2im_texel)
INPUT(from) OUTPUT(to)
INT(images) INT(channels) INT(height) INT(width) INT(out_height) INT(out_width)
INT(kernel_height) INT(kernel_width) INT(stride_y) INT(stride_x) INT(padding_y) INT(padding_x)
INT(pitch) INT(elements)
END_RECORD
#else
RECORD(col2im)
INPUT(from) OUTPUT(to)
INT(images) INT(channels) MEMBER(Windows, windows)
INT(columns) INT(pitch) INT(between) INT(elements)
END_RECORD
#endif

#ifdef TEXEL
// Element q of an image is in the windows q + (padding y - ky) * W + padding x - kx. An invocation computes 16
// neighbours. Macros unroll the sums, since the loop unroller of spirv-opt drops NoContraction.
const uint TEXELS = 4u;

void main()
{
    const uint N = record.images, channels = record.channels, H = record.height, W = record.width,
               OH = record.out_height, kh = record.kernel_height, kw = record.kernel_width,
               pitch4 = record.pitch / 4u;
    const int padding_y = record.padding_y, padding_x = record.padding_x;
    const uint col = record.from.texel, dx = record.to.texel;

    const uint plane4 = H * W / 4u, blocks = (plane4 + TEXELS - 1u) / TEXELS;
    const uint block = flat_group() * 64u + gl_LocalInvocationID.x;
    if (block >= N * channels * blocks) return;
    const uint plane = quotient(block, blocks), texel = (block - plane * blocks) * TEXELS;
    const uint n = quotient(plane, channels), channel = plane - n * channels;
    const uint y = quotient(4u * texel, W);

    const int x = int(4u * texel - y * W);
    Four at0 = Four(ivec4(int(y) + padding_y), ivec4(x + padding_x) + ivec4(0, 1, 2, 3));
    wrap(at0, int(W) + padding_x, int(W));
#define NEXT(i, j)                                    \
    Four at##j = Four(at##i.row, at##i.column + 4);   \
    wrap(at##j, int(W) + padding_x, int(W));
    NEXT(0, 1) NEXT(1, 2) NEXT(2, 3)

    precise REAL4 sum0 = REAL4(0.0), sum1 = REAL4(0.0), sum2 = REAL4(0.0), sum3 = REAL4(0.0);
    uint row_at = col + channel * kh * kw * pitch4;
    int ky = 0;
    int line = int((n * OH) * W + 4u * texel) + padding_y * int(W) + padding_x;
    do {
#define IN_COLUMN(i) const bvec4 inside##i = lessThan(uvec4(at##i.row - ky), uvec4(OH));
        IN_COLUMN(0) IN_COLUMN(1) IN_COLUMN(2) IN_COLUMN(3)
        int kx = 0;
        do {
            const int first = int(row_at) + ((line - kx) >> 2);
            const uint by = uint((line - kx) & 3);
            const REAL4 v0 = texelFetch(slab, first), v1 = texelFetch(slab, first + 1),
                       v2 = texelFetch(slab, first + 2), v3 = texelFetch(slab, first + 3),
                       v4 = texelFetch(slab, first + 4);
#define ADD(i, low, high)                                                                      \
    {                                                                                          \
        const bvec4 in_row = lessThan(uvec4(at##i.column - kx), uvec4(W));                     \
        const REAL4 v = mix(REAL4(0.0), shifted(low, high, by), in_row);                         \
        sum##i += mix(REAL4(0.0), v, inside##i);                                                \
    }
            ADD(0, v0, v1) ADD(1, v1, v2) ADD(2, v2, v3) ADD(3, v3, v4)
            row_at += pitch4;
        } while (++kx < int(kw));
        line -= int(W);
    } while (++ky < int(kh));

    const uint dx_at = IN_WINDOW(dx) + plane * plane4 + texel;
    slab_window[WINDOW_OF(dx)].v[dx_at] = sum0;
    if (texel + 1u < plane4) slab_window[WINDOW_OF(dx)].v[dx_at + 1u] = sum1;
    if (texel + 2u < plane4) slab_window[WINDOW_OF(dx)].v[dx_at + 2u] = sum2;
    if (texel + 3u < plane4) slab_window[WINDOW_OF(dx)].v[dx_at + 3u] = sum3;
}
#else
layout(constant_id = 0) const uint DILATED = 0;

// Returns the tap at `distance` elements from the begin of a window. `found` is false if there is none, between taps.
int place_at(int distance, int dilation, out bool found)
{
    const int k = DILATED != 0u ? int(quotient(uint(distance), uint(dilation))) : distance;
    found = DILATED == 0u || k * dilation == distance;
    return k;
}

void main()
{
    const uint N = record.images, channels = record.channels, D = record.windows.in_size[0], H = record.windows.in_size[1],
               W = record.windows.in_size[2], pitch = record.pitch, between = record.between;
    const ivec3 out_size = XYZ(record.windows.out_size),
                kernel = XYZ(record.windows.kernel),
                stride = XYZ(record.windows.stride),
                padding = XYZ(record.windows.padding),
                dilation = XYZ(record.windows.dilation);
    Reals col = Reals(record.from.address), dx = Reals(record.to.address);

    const uint element = flat_group() * 64u + gl_LocalInvocationID.x;
    if (element >= N * channels * D * H * W) return;
    const uint line = quotient(element, W), slice = quotient(line, H), plane = quotient(slice, D),
               n = quotient(plane, channels);
    const ivec3 at = ivec3(element - line * W, line - slice * H, slice - plane * D) + padding;
    const int taps = int((plane - n * channels) * uint(kernel.z * kernel.y * kernel.x) * pitch + n * between);

    // The last window that contains the element is that of output z / stride, ...; the tap index grows with each
    // preceding window.
    const ivec3 last = min(ivec3(quotient(uint(at.x), uint(stride.x)), quotient(uint(at.y), uint(stride.y)),
                                 quotient(uint(at.z), uint(stride.z))), out_size - 1);
    const ivec3 reach = (kernel - 1) * dilation;
    precise REAL sum = 0.0;
    int oz = last.z;
    for (int z = at.z - oz * stride.z; z <= reach.z && oz >= 0; z += stride.z, --oz) {
        bool in_depth, in_column, in_row;
        const int kz = place_at(z, dilation.z, in_depth);
        int oy = in_depth ? last.y : -1;
        for (int y = at.y - oy * stride.y; y <= reach.y && oy >= 0; y += stride.y, --oy) {
            const int ky = place_at(y, dilation.y, in_column);
            int ox = in_column ? last.x : -1;
            const int window = (kz * kernel.y + ky) * kernel.x, outputs = (oz * out_size.y + oy) * out_size.x;
            for (int x = at.x - ox * stride.x; x <= reach.x && ox >= 0; x += stride.x) {
                const int kx = place_at(x, dilation.x, in_row);
                if (in_row) sum += col.v[taps + (window + kx) * int(pitch) + outputs + ox];
                --ox;
            }
        }
    }
    dx.v[element] = sum;
}
#endif
