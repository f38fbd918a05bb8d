// Reductions over a channel of x [N, C, image], whose n = N * image elements are counted in row-major order.  With
// TEXELS four neighbours are loaded through the slab's view; image is a multiple of 4 then.
//
// Numeric class, a pure function of n, in every variant; batch_norm_group.glsl has the one of larger images on GPUs:
//   chunk     32 consecutive elements as 8 groups of four, padded with zeros.  The groups are added
//             ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)), then the four sums (0 + 1) + (2 + 3).
//   block     8 chunks
//   partial   p of P = min(ceil(n / 256), 1024) adds the chunks of blocks p, p + P, p + 2P, ... in order
//   result    adds the partials in order
#include "common/index.glsl"
#include "common/repeat.glsl"
#include "common/tree.glsl"

layout(local_size_x = 64) in;

const uint CHUNK = 32u, BLOCK = 256u;

// A position among the elements of a channel; with TEXELS all members count texels.
struct Walk {
    uint at, i;       // in the tensor, in the image
    uint image, skip; // elements of an image, and between two images of the channel
};
Walk walk_from(uint element, uint channel, uint channels, uint image)
{
#ifdef TEXELS
    element /= 4u;
    image /= 4u;
#endif
    const uint n = quotient(element, image), i = element - n * image;
    return Walk((n * channels + channel) * image + i, i, image, (channels - 1u) * image);
}
void advance(inout Walk w)
{
    ++w.at;
    ++w.i;
    const bool over = w.i == w.image;
    w.i = over ? 0u : w.i;
    w.at += over ? w.skip : 0u;
}
void next_four(inout Walk w)
{
#ifdef TEXELS
    advance(w);
#else
    for (uint j = 0u; j < 4u; ++j) advance(w);
#endif
}
// Returns the four elements at w; 0 for those from `left` on.
vec4 four(Operand from, Walk w, int left)
{
#ifdef TEXELS
    return mix(vec4(0.0), texelFetch(slab, int(from.texel + w.at)), lessThan(ivec4(0, 1, 2, 3), ivec4(left)));
#else
    vec4 v = vec4(0.0);
    for (int j = 0; j < 4; ++j)
        if (j < left) {
            v[j] = Floats(from.address).v[w.at];
            advance(w);
        }
    return v;
#endif
}

// The partial that an invocation computes: neighbouring invocations compute neighbouring partials, or neighbouring
// channels if these are adjacent in memory (image == 1).
struct Share {
    uint channel, partial;
};
Share share_of(uint invocation, uint channels, uint partials, uint image)
{
    const uint inner = image == 1u ? channels : partials, major = quotient(invocation, inner);
    const uint minor = invocation - major * inner;
    return image == 1u ? Share(minor, major) : Share(major, minor);
}
