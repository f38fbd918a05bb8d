// Direct convolution (without im2col), for CPUs with subgroups of 8 lanes: a lane computes 4 neighbouring pixels of the
// output, counted row-major through an image, and gets its neighbours' pixels by shuffles.  Windows are 3 x 3 with a
// padding of 1, or with POINT 1 x 1.  With TEXELS loads go through the slab's view, else by address.  With
// FIXED_WIDENING images are f16 or bf16, which are widened, also as rows of pixels in conv2d_weight_direct; all else is
// f32.
//
// constants  0: EDGES, if 32 is no multiple of the output's width: a subgroup's pixels may end inside of a row
//            1: STRIDE, 1 or 2; with 2 the image is twice as wide as the output, whose width is a multiple of 4
//            2: REST = width % 4, for windows of 3 x 3; if it is not 0, the width is at least 4
// An image and an output image have a multiple of 4 pixels.
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#include "common/index.glsl"

layout(local_size_x = 8) in;
layout(constant_id = 0) const bool EDGES = true;
layout(constant_id = 1) const uint STRIDE = 1;
layout(constant_id = 2) const uint REST = 0;

#define EACH_3(F, a) F(a, 0) F(a, 1) F(a, 2)
#define EACH_4(F, a) F(a, 0) F(a, 1) F(a, 2) F(a, 3)
#define EACH_9(F, a) F(a, 0) F(a, 1) F(a, 2) F(a, 3) F(a, 4) F(a, 5) F(a, 6) F(a, 7) F(a, 8)
#ifdef POINT
#define EACH_TAP(F, a) F(a, 0)
#define EACH_ROW_OF_TAPS(F, a) F(a, 0)
const int TAPS = 1;
#else
#define EACH_TAP(F, a) EACH_9(F, a)
#define EACH_ROW_OF_TAPS(F, a) EACH_3(F, a)
const int TAPS = 9;
#endif

// FETCH loads elements 4 at to 4 at + 3 of an operand, IMAGE those of an image, which PUT stores.
#ifdef TEXELS
#define FETCH(operand, at) texelFetch(slab, int(operand.texel) + int(at))
#else
#define FETCH(operand, at) Vec4s(operand.address).v[at]
#endif
#ifdef FIXED_WIDENING
#include "common/widening.glsl"
#include "common/narrowing.glsl"
vec4 load_image(Operand image, int at)
{
#ifdef TEXELS
    const uvec4 eight = floatBitsToUint(texelFetch(slab, int(image.texel) + (at >> 1)));
    return widened((at & 1) == 0 ? eight.xy : eight.zw);
#else
    return widened(Longs(image.address).v[at]);
#endif
}
#define IMAGE(image, at) load_image(image, int(at))
#define PUT(image, at, value) Longs(image.address).v[at] = narrowed(value);
#else
#define IMAGE FETCH
#ifdef TEXELS
#define PUT(image, at, value) slab_window[WINDOW_OF(image.texel)].v[IN_WINDOW(image.texel) + at] = value;
#else
#define PUT(image, at, value) Vec4s(image.address).v[at] = value;
#endif
#endif

// The positions of a lane's pixels; positions and sizes count texels.
struct Pixels {
    bool exists;
    uint out_at;       // in an output image
    int row_at[3];     // in an input image, by ky: the middle column of the first pixel's window
    bvec4 mask[9];     // by tap: whether it lies in the image; with REST of 0 only at the first tap of a row
    bool first, last;  // with REST of 0: whether the pixels begin or end their row, so that there is no neighbour
    int end;           // end of the range that may be loaded
};
Pixels pixels_of(uint tile, uint height, uint width, uint out_height, uint out_width)
{
    const uint count = out_height * out_width / 4u;
    Pixels p;
    p.out_at = tile * 8u + gl_SubgroupInvocationID;
    p.exists = p.out_at < count;
    p.out_at = min(p.out_at, count - 1u);
#ifdef POINT
    p.row_at[0] = int(p.out_at);
    if (STRIDE == 2u) {
        const uint row = quotient(p.out_at, out_width / 4u), column = p.out_at - row * (out_width / 4u);
        p.row_at[0] = int(row * 2u * (width / 4u) + column * 2u);
    }
#else
    const uint row = quotient(4u * p.out_at, out_width), column = 4u * p.out_at - row * out_width;
    p.first = column == 0u || !p.exists;
    p.last = column + 4u == out_width || !p.exists;
    const uvec4 columns = column + uvec4(0u, 1u, 2u, 3u);
    const bvec4 over = greaterThanEqual(columns, uvec4(out_width));
    const bvec4 not_first = notEqual(columns, mix(uvec4(0u), uvec4(out_width), over));
    const bvec4 not_last = notEqual(columns + 1u, mix(uvec4(out_width), uvec4(2u * out_width), over));
    for (int ky = 0; ky < 3; ++ky) {
        const int y = int(row * STRIDE) + ky - 1;
        const bool inside = p.exists && y >= 0 && y < int(height);
        const bool below = p.exists && y + 1 >= 0 && y + 1 < int(height);
        if (REST == 0u) {
            p.row_at[ky] = clamp(y, 0, int(height) - 1) * int(width / 4u) + int(column * STRIDE / 4u);
            p.mask[ky * 3] = p.mask[ky * 3 + 1] = p.mask[ky * 3 + 2] = bvec4(inside);
        } else {
            p.row_at[ky] = (y * int(width) + int(column)) >> 2;
            const bvec4 middle = mix(bvec4(inside), bvec4(below), over);
            p.mask[ky * 3] = mix(bvec4(false), middle, not_first);
            p.mask[ky * 3 + 1] = middle;
            p.mask[ky * 3 + 2] = mix(bvec4(false), middle, not_last);
        }
    }
#endif
    return p;
}

// The elements that the taps of one row of the windows read, zeros outside; `present`: whether the channel exists.
struct Taps {
    vec4 at[3];
};
#ifdef POINT
Taps taps_of(Operand x, int image_at, Pixels p, int ky, bool present)
{
    Taps t;
    const int at = image_at + p.row_at[0];
    const bvec4 mask = bvec4(present && p.exists);
    t.at[0] = mix(vec4(0.0), IMAGE(x, at), mask);
    if (STRIDE == 2u)
        t.at[0] = vec4(t.at[0].xz, mix(vec4(0.0), IMAGE(x, at + 1), mask).xz);
    return t;
}
#else
#ifdef TEXELS
#define IMAGE_NEAR(x, at) IMAGE(x, at)
#else
#define IMAGE_NEAR(x, at) IMAGE(x, clamp(at, 0, p.end - 1)) // elements outside are masked
#endif
Taps taps_of(Operand x, int image_at, Pixels p, int ky, bool present)
{
    const uint lane = gl_SubgroupInvocationID;
    const uint before = (lane + 7u) & 7u, after = (lane + 1u) & 7u;
    const int at = image_at + p.row_at[ky];
    const uint rest = (uint(ky) + 3u) * REST % 4u; // position of the middle column's first pixel in its texel
    Taps t;
    if (STRIDE == 2u) {
        const bvec4 mask = bvec4(present && p.mask[ky * 3].x);
        const vec4 v = mix(vec4(0.0), IMAGE(x, at), mask), w = mix(vec4(0.0), IMAGE(x, at + 1), mask);
        float left = subgroupShuffle(w.w, before);
        if (EDGES) {
            const bool edge = lane == 0u && !p.first;
            left = edge ? mix(0.0, IMAGE(x, at - int(edge)).w, mask.x) : left;
        }
        t.at[0] = vec4(p.first ? 0.0 : left, v.yw, w.y);
        t.at[1] = vec4(v.xz, w.xz);
        t.at[2] = vec4(v.yw, w.yw);
    } else if (REST == 0u) {
        // Pixels of one row are all inside or all outside, so that the neighbours' values are masked correctly.
        const bvec4 mask = bvec4(present && p.mask[ky * 3].x);
        const vec4 v = mix(vec4(0.0), IMAGE(x, at), mask);
        float left = subgroupShuffle(v.w, before), right = subgroupShuffle(v.x, after);
        if (EDGES) {
            const bool at_left = lane == 0u && !p.first, at_right = lane == 7u && !p.last;
            const vec4 edge = mix(vec4(0.0), IMAGE(x, at + (at_left ? -1 : at_right ? 1 : 0)), mask);
            left = at_left ? edge.w : left;
            right = at_right ? edge.x : right;
        }
        t.at[0] = vec4(p.first ? 0.0 : left, v.xyz);
        t.at[1] = v;
        t.at[2] = vec4(v.yzw, p.last ? 0.0 : right);
    } else {
        const vec4 v = IMAGE_NEAR(x, at);
        if (rest == 0u) {
            const vec4 edge = IMAGE_NEAR(x, at + (lane == 0u ? -1 : 1));
            const float left = subgroupShuffle(v.w, before), right = subgroupShuffle(v.x, after);
            t.at[0] = vec4(lane == 0u ? edge.w : left, v.xyz);
            t.at[1] = v;
            t.at[2] = vec4(v.yzw, lane == 7u ? edge.x : right);
        } else {
            const vec4 w = IMAGE_NEAR(x, at + 1);
            t.at[0] = rest == 1u ? v : rest == 2u ? vec4(v.yzw, w.x) : vec4(v.zw, w.xy);
            t.at[1] = rest == 1u ? vec4(v.yzw, w.x) : rest == 2u ? vec4(v.zw, w.xy) : vec4(v.w, w.xyz);
            t.at[2] = rest == 1u ? vec4(v.zw, w.xy) : rest == 2u ? vec4(v.w, w.xyz) : w;
        }
        for (int kx = 0; kx < 3; ++kx) {
            t.at[kx] = mix(vec4(0.0), t.at[kx], p.mask[ky * 3 + kx]);
            t.at[kx] = present ? t.at[kx] : vec4(0.0);
        }
    }
    return t;
}
#endif
