// Reductions over a channel of x [N, C, image] on GPUs, whose n = N * image elements are counted in row-major order: 64
// lanes compute a partial.  For images of at least 8 elements (ops/channels.cpp).
//
// Numeric class, a pure function of n, in every variant:
//   block     2,048 consecutive elements.  Lane i takes groups i, i + 64, ..., i + 448 of four elements, padded with
//             zeros.  The groups are added ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)), then the four sums (0 + 1) + (2 +
//             3).
//   partial   p of P = min(ceil(n / 2048), 256): each lane adds its sums of blocks p, p + P, p + 2P, ... in order.
//             Then the results of lanes i and i + 32 are added, then those of i and i + 16, ...
//   result    adds the partials in order
// Statistics are merged where sums are added.
//
// VEC4: x is 16-byte aligned, and image a multiple of 4.
#include "common/index.glsl"
#include "common/repeat.glsl"
#include "common/tree.glsl"

const uint SHARING = 64u, FOURS = 8u, BLOCK = SHARING * FOURS * 4u;
layout(local_size_x = SHARING) in;
shared vec4 of_lanes[SHARING];

#define FOUR(i) (first + i * SHARING * 4u)
// Stores the combined results of the lanes.
#define STORE_PARTIAL(mine, combine)                                                                    \
    of_lanes[lane] = mine;                                                                              \
    barrier();                                                                                          \
    COMBINE_LANES(combine, lane, lane, SHARING, 1u)                                                     \
    if (lane == 0u) Vec4s(to).v[c.partial * c.channels + c.channel] = of_lanes[0];

struct Channel {
    uint channel, partial;
    uint channels, image, n;
};
Channel channel_of_group(uint images, uint channels, uint image, uint partials)
{
    const uint channel = quotient(flat_group(), max(partials, 1u));
    return Channel(channel, flat_group() - channel * partials, channels, image, images * image);
}
uint position(Channel c, uint element)
{
    const uint image = quotient(element, c.image);
    return (image * c.channels + c.channel) * c.image + (element - image * c.image);
}
bvec4 exist(Channel c, uint first) { return lessThan(uvec4(first) + uvec4(0u, 1u, 2u, 3u), uvec4(c.n)); }
// The positions of the elements from `first` on, with VEC4 only the first one's; others in place of those that do not
// exist.  Loads are not in branches, and all positions are computed before: a compiler may wait for a load in front of
// what follows it.
#ifdef VEC4
#define POSITIONS uint
POSITIONS positions(Channel c, uint first) { return position(c, first < c.n ? first : 0u) / 4u; }
vec4 four(uvec2 from, POSITIONS at) { return ReadVec4s(from).v[at]; }
#else
#define POSITIONS uvec4
#define ELEMENT(j) position(c, min(first + j, c.n - 1u))
POSITIONS positions(Channel c, uint first) { return uvec4(ELEMENT(0u), ELEMENT(1u), ELEMENT(2u), ELEMENT(3u)); }
vec4 four(uvec2 from, POSITIONS at)
{
    return vec4(ReadFloats(from).v[at.x], ReadFloats(from).v[at.y], ReadFloats(from).v[at.z], ReadFloats(from).v[at.w]);
}
#endif
// Returns 0 in place of elements that do not exist.
vec4 existing(vec4 v, Channel c, uint first) { return mix(vec4(0.0), v, exist(c, first)); }
