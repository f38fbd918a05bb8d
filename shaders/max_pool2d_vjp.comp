// variants: max_pool2d_vjp: ; max_pool2d_vjp_texel: -DTEXEL ; max_pool2d_vjp_tiles: -DTILES
// dx of max_pool2d: each element gathers dy from the windows of which it is the largest element, from the last window
// to the first.
//
//   dy and index (i32) [planes, OH, OW], dx [planes, H, W], all contiguous
//   constants 0 to 5, of max_pool2d_vjp: kernel y, kernel x, stride y, stride x, padding y, padding x
//   groups    ceil(planes * H * W / 64)
//             max_pool2d_vjp_texel: ceil(planes * H * W / 256)
//             max_pool2d_vjp_tiles: ceil(planes * OH * OW / 256)
//   max_pool2d_vjp_texel requires  all operands in the slab, dx inside a window; kernel and strides of 2,
//             no padding, W even
//   max_pool2d_vjp_tiles requires  the same, H even and W a multiple of 4
#version 460
#extension GL_GOOGLE_include_directive : require
#define SLAB
#include "common/abi.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;

RECORD(max_pool2d_vjp)
INPUT(dy) INPUT(index) OUTPUT(dx)
INT(planes) INT(height) INT(width) INT(out_height) INT(out_width)
END_RECORD

#if defined(TILES)
// Two neighbouring windows cover a texel of dx and the one below it.
void main()
{
    const uint planes = record.planes, W = record.width, OH = record.out_height, OW = record.out_width;
    const uint dy = record.dy.texel, index = record.index.texel, dx = record.dx.texel;
    const uint texel = flat_group() * 64u + gl_LocalInvocationID.x, windows = planes * OH * OW;
    if (4u * texel >= windows) return;
    const vec4 gradient = texelFetch(slab, int(dy + texel));
    const uvec4 place = floatBitsToUint(texelFetch(slab, int(index + texel)));
    uint line = quotient(4u * texel, OW), ox = 4u * texel - line * OW;
    uint oy = line - quotient(line, OH) * OH;
    const uint dx_at = IN_WINDOW(dx);
#define TILE(g, p, exists)                                                                              \
    {                                                                                                   \
        const uvec4 at = uvec4(2u * (oy * W + ox)) + uvec4(0, 1, 2, 3);                                 \
        const uint to = dx_at + (2u * (line * W + ox) >> 2);                                            \
        if (exists) {                                                                                   \
            slab_window[WINDOW_OF(dx)].v[to] = mix(vec4(0.0), g, equal(p, at));                         \
            slab_window[WINDOW_OF(dx)].v[to + (W >> 2)] = mix(vec4(0.0), g, equal(p, at + W));          \
        }                                                                                               \
        ox += 2u;                                                                                       \
        const bool next = ox == OW;                                                                     \
        ox = next ? 0u : ox;                                                                            \
        line += uint(next);                                                                             \
        oy += uint(next);                                                                               \
        oy = oy == OH ? 0u : oy;                                                                        \
    }
    TILE(gradient.xxyy, place.xxyy, true)
    TILE(gradient.zzww, place.zzww, 4u * texel + 2u < windows)
}
#elif defined(TEXEL)
// Half a texel covers the upper or the lower half of one window.
float component(vec4 v, uint i)
{
    const vec2 two = (i & 2u) != 0u ? v.zw : v.xy;
    return (i & 1u) != 0u ? two.y : two.x;
}

void main()
{
    const uint planes = record.planes, H = record.height, W = record.width;
    const uint OH = record.out_height, OW = record.out_width;
    const uint dy = record.dy.texel, index = record.index.texel, dx = record.dx.texel;
    const uint texel = flat_group() * 64u + gl_LocalInvocationID.x;
    if (4u * texel >= planes * H * W) return;
    const uint line = quotient(4u * texel, W), plane = quotient(line, H);
    uint x = 4u * texel - line * W, y = line - plane * H;
    uint first = plane * OH * OW; // window of the plane
    vec4 sum;
#define HALF(i)                                                                                             \
    {                                                                                                       \
        const uint window = first + (y >> 1) * OW + (x >> 1), at = y * W + x;                               \
        const float gradient = component(texelFetch(slab, int(dy + (window >> 2))), window);                \
        const float place = component(texelFetch(slab, int(index + (window >> 2))), window);                \
        const bool inside = y < 2u * OH;                                                                    \
        sum[2 * i] = inside && floatBitsToUint(place) == at ? gradient : 0.0;                               \
        sum[2 * i + 1] = inside && floatBitsToUint(place) == at + 1u ? gradient : 0.0;                      \
        x += 2u;                                                                                            \
        const bool next_line = x == W;                                                                      \
        x = next_line ? 0u : x;                                                                             \
        y += uint(next_line);                                                                               \
        const bool next_plane = y == H;                                                                     \
        y = next_plane ? 0u : y;                                                                            \
        first += next_plane ? OH * OW : 0u;                                                                 \
    }
    HALF(0) HALF(1)
    slab_window[WINDOW_OF(dx)].v[IN_WINDOW(dx) + texel] = sum;
}
#else
// These are constants so that the loops are unrolled.
layout(constant_id = 0) const int KERNEL_Y = 2;
layout(constant_id = 1) const int KERNEL_X = 2;
layout(constant_id = 2) const int STRIDE_Y = 2;
layout(constant_id = 3) const int STRIDE_X = 2;
layout(constant_id = 4) const int PADDING_Y = 0;
layout(constant_id = 5) const int PADDING_X = 0;

void main()
{
    const uint planes = record.planes, H = record.height, W = record.width;
    const uint OH = record.out_height, OW = record.out_width;
    Floats dy = Floats(record.dy.address), dx = Floats(record.dx.address);
    Ints index = Ints(record.index.address);
    const uint element = flat_group() * 64u + gl_LocalInvocationID.x;
    if (element >= planes * H * W) return;
    const uint line = quotient(element, W), plane = quotient(line, H);
    const int place = int(element - plane * H * W), first = int(plane * OH * OW);
    const int y = int(line - plane * H) + PADDING_Y, x = int(element - line * W) + PADDING_X;
    // Window o contains the positions with o * stride <= at < o * stride + kernel.
    const int last_y = int(quotient(uint(y), uint(STRIDE_Y)));
    const int last_x = int(quotient(uint(x), uint(STRIDE_X)));
    precise float sum = 0.0;
    bool none = true;
    for (int j = 0; j * STRIDE_Y < KERNEL_Y; ++j)
        for (int i = 0; i * STRIDE_X < KERNEL_X; ++i) {
            const int oy = last_y - j, ox = last_x - i;
            const bool holds = uint(oy) < OH && uint(ox) < OW && y - oy * STRIDE_Y < KERNEL_Y &&
                               x - ox * STRIDE_X < KERNEL_X;
            const int window = first + (holds ? oy * int(OW) + ox : 0);
            const float gradient = dy.v[window];
            const bool greatest = holds && index.v[window] == place;
            const float more = none ? gradient : sum + gradient;
            sum = greatest ? more : sum;
            none = none && !greatest;
        }
    dx.v[element] = sum;
}
#endif
