// variants: max_pool2d: ; max_pool2d_texel: -DTEXEL
// The largest element of each window and its index: the flat position iy * W + ix, of equal elements that of the first
// in row-major order.  Padding is never taken; a NaN replaces all elements before it, as in PyTorch.
//
//   x [planes, H, W], y and index (i32) [planes, OH, OW], all contiguous
//   constants 0 to 5, of max_pool2d: kernel y, kernel x, stride y, stride x, padding y, padding x
//   groups    ceil(planes * OH * OW / 64); max_pool2d_texel: ceil(planes * OH * OW / 256)
//   max_pool2d_texel requires  all operands in the slab, y and index inside a window; kernel and strides of
//             2, no padding, W even
#version 460
#extension GL_GOOGLE_include_directive : require
#define SLAB
#include "common/abi.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;

RECORD(max_pool2d)
INPUT(x) OUTPUT(y) OUTPUT(index)
INT(planes) INT(height) INT(width) INT(out_height) INT(out_width)
END_RECORD

struct Best {
    float value;
    int place;
};

void compare(inout Best best, float value, int place)
{
    const bool wins = value > best.value || (floatBitsToUint(value) & 0x7FFFFFFFu) > 0x7F800000u;
    best.value = wins ? value : best.value;
    best.place = wins ? place : best.place;
}

#ifdef TEXEL
// As W is even, no half of a window straddles two texels.
void main()
{
    const uint planes = record.planes, H = record.height, W = record.width;
    const uint OH = record.out_height, OW = record.out_width;
    const uint x = record.x.texel, y = record.y.texel, index = record.index.texel;
    const uint texel = flat_group() * 64u + gl_LocalInvocationID.x;
    if (4u * texel >= planes * OH * OW) return;
    const uint line = quotient(4u * texel, OW), plane = quotient(line, OH);
    uint ox = 4u * texel - line * OW, oy = line - plane * OH;
    uint first = plane * H * W; // element of the plane
    vec4 value;
    ivec4 place;
#define WINDOW(i)                                                                  \
    {                                                                              \
        const uint at = 2u * (oy * W + ox), upper = first + at, lower = upper + W; \
        const vec4 top = texelFetch(slab, int(x + (upper >> 2)));                  \
        const vec4 bottom = texelFetch(slab, int(x + (lower >> 2)));               \
        const vec2 above = (upper & 2u) == 0u ? top.xy : top.zw;                   \
        const vec2 below = (lower & 2u) == 0u ? bottom.xy : bottom.zw;             \
        Best best = Best(above.x, int(at));                                        \
        compare(best, above.y, int(at) + 1);                                       \
        compare(best, below.x, int(at + W));                                       \
        compare(best, below.y, int(at + W) + 1);                                   \
        value[i] = best.value;                                                     \
        place[i] = best.place;                                                     \
        const bool next_line = ++ox == OW;                                         \
        ox = next_line ? 0u : ox;                                                  \
        oy += uint(next_line);                                                     \
        const bool next_plane = oy == OH;                                          \
        oy = next_plane ? 0u : oy;                                                 \
        first += next_plane ? H * W : 0u;                                          \
    }
    WINDOW(0) WINDOW(1) WINDOW(2) WINDOW(3)
    slab_window[WINDOW_OF(y)].v[IN_WINDOW(y) + texel] = value;
    slab_window[WINDOW_OF(index)].v[IN_WINDOW(index) + texel] = intBitsToFloat(place);
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
    Floats x = Floats(record.x.address), y = Floats(record.y.address);
    Ints index = Ints(record.index.address);
    const uint element = flat_group() * 64u + gl_LocalInvocationID.x;
    if (element >= planes * OH * OW) return;
    const uint line = quotient(element, OW), plane = quotient(line, OH);
    const int left = int(element - line * OW) * STRIDE_X - PADDING_X,
              top = int(line - plane * OH) * STRIDE_Y - PADDING_Y;
    const int first = int(plane * H * W);
    const float lowest = uintBitsToFloat(0xFF800000u); // -inf
    Best best = Best(lowest, max(top, 0) * int(W) + max(left, 0));
    for (int ky = 0; ky < KERNEL_Y; ++ky)
        for (int kx = 0; kx < KERNEL_X; ++kx) {
            const int iy = top + ky, ix = left + kx, place = iy * int(W) + ix;
            if (uint(iy) < H && uint(ix) < W) compare(best, x.v[first + place], place);
        }
    y.v[element] = best.value;
    index.v[element] = best.place;
}
#endif
