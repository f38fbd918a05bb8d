// Reductions over a channel of x [N, C, image] on GPUs with Vulkan, whose n = N * image elements are counted in row-major order: 64
// lanes compute a partial.  For images of at least 8 elements (ops/channels.cpp).
//
// Numeric class, a pure function of n, in every variant:
//   block     2,048 consecutive elements.  Lane i takes groups i, i + 64, ..., i + 448 of four elements, padded with zeros.  The
//             groups are added ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)), then the four sums (0 + 1) + (2 + 3).
//   partial   p of P = min(ceil(n / 2048), 256): each lane adds its sums of blocks p, p + P, p + 2P, ... in order.  Then the
//             results of lanes i and i + 32 are added, then those of i and i + 16, ...
//   result    adds the partials in order
// Statistics are merged where sums are added.
//
// VEC4: x is 16-byte aligned, and image a multiple of 4.
#include "common/index.glsl"

const uint SHARING = 64u, FOURS = 8u, BLOCK = SHARING * FOURS * 4u;
layout(local_size_x = SHARING) in;
shared vec4 of_lanes[SHARING];

#define FOUR(i) (first + i * SHARING * 4u)
#define EACH_8(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
#define TREE(v) (((v##0 + v##1) + (v##2 + v##3)) + ((v##4 + v##5) + (v##6 + v##7)))
#define SUM_OF_FOUR(v) ((v.x + v.y) + (v.z + v.w))
// Adds the results of the lanes: `merge` adds two.
#define ADD_LANES(mine, merge)                                                                          \
    of_lanes[lane] = mine;                                                                              \
    barrier();                                                                                          \
    for (uint apart = SHARING / 2u; apart > 0u; apart /= 2u) {                                          \
        if (lane < apart) of_lanes[lane] = merge(of_lanes[lane], of_lanes[lane + apart]);               \
        barrier();                                                                                      \
    }

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
// The positions of the elements from `first` on, with VEC4 only the first one's; others in place of those that do not exist.
// Loads are not in branches, and all positions are computed before: a compiler may wait for a load in front of what follows it.
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
