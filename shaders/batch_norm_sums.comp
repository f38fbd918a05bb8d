// variants: batch_norm_sums: ; batch_norm_sums_texel: -DTEXELS
// variants: batch_norm_sums_group: -DGROUP ; batch_norm_sums_group_vec4: -DGROUP -DVEC4
// Partial statistics of each channel: mean, sum of squared deviations from it, count. Those of a chunk (GROUP: of a
// lane's fours of a block) are computed around its own mean and merged into the partial (Chan, Golub, LeVeque 1979),
// which avoids cancellation.
//
//   x         [images, channels, image]
//   partials  [partial_count][channels] of vec4
//   groups    ceil(channels * partial_count / 64), with GROUP channels * partial_count
//   texel     x in the slab; image a multiple of 4
#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef TEXELS
#define SLAB
#endif
#include "common/abi.glsl"
#include "common/statistics.glsl"
#ifdef GROUP
#include "common/batch_norm_group.glsl"
#else
#include "common/batch_norm.glsl"
#endif

RECORD(batch_norm_sums)
INPUT(x) OUTPUT(partials)
INT(images) INT(channels) INT(image) INT(partial_count)
END_RECORD

#ifdef GROUP
void main()
{
    const Channel c = channel_of_group(record.images, record.channels, record.image, record.partial_count);
    if (c.channel >= c.channels) return;
    const uvec2 x = record.x.address, to = record.partials.address;
    const uint lane = gl_LocalInvocationIndex, step = record.partial_count * BLOCK;

    vec4 all = vec4(0.0);
    for (uint block = c.partial * BLOCK; block < c.n; block += step) {
        const uint first = block + lane * 4u;
#define PLACE(i) const POSITIONS at##i = positions(c, FOUR(i));
        EACH_8(PLACE)
#define LOAD(i) const vec4 x##i = four(x, at##i);
        EACH_8(LOAD)
#define TAKE(i) precise vec4 t##i = existing(x##i, c, FOUR(i));
        EACH_8(TAKE)
        uint count = 0u;
#define COUNT(i) count += min(max(c.n, FOUR(i)) - FOUR(i), 4u);
        EACH_8(COUNT)
        precise vec4 sums = SUM_OF_8(t);
        precise float average = SUM_OF_4(sums) / float(max(count, 1u));
#define DEVIATE(i)                                                    \
        precise vec4 d##i = existing(t##i - average, c, FOUR(i));     \
        precise vec4 q##i = d##i * d##i;
        EACH_8(DEVIATE)
        precise vec4 square_sums = SUM_OF_8(q);
        precise float squares = SUM_OF_4(square_sums);
        all = merged(all, vec4(average, squares, float(count), 0.0));
    }
    STORE_PARTIAL(all, merged)
}
#else
void main()
{
    const uint images = record.images, channels = record.channels, image = record.image;
    const uint partials = record.partial_count;
    const Operand x = record.x;
    Vec4s to = Vec4s(record.partials.address);
    const uint invocation = flat_group() * 64u + gl_LocalInvocationID.x;
    if (invocation >= channels * partials)
        return;
    const Share share = share_of(invocation, channels, partials, image);
    const uint n = images * image;

    vec4 all = vec4(0.0);
    for (uint block = share.partial * BLOCK; block < n; block += partials * BLOCK) {
        Walk w = walk_from(block, share.channel, channels, image);
        const uint end = min(block + BLOCK, n);
        for (uint first = block; first < end; first += CHUNK) {
            const int left = int(min(end - first, CHUNK));
#define LOAD(i)                                    \
    precise vec4 t##i = four(x, w, left - 4 * i);  \
    next_four(w);
            EACH_8(LOAD)
            precise vec4 sums = SUM_OF_8(t);
            precise float chunk = float(left), average = SUM_OF_4(sums) / chunk;
#define DEVIATE(i)                                                                                   \
    precise vec4 d##i = mix(vec4(0.0), t##i - average, lessThan(ivec4(0, 1, 2, 3), ivec4(left - 4 * i))); \
    precise vec4 q##i = d##i * d##i;
            EACH_8(DEVIATE)
            precise vec4 square_sums = SUM_OF_8(q);
            precise float squares = SUM_OF_4(square_sums);
            all = merged(all, vec4(average, squares, chunk, 0.0));
        }
    }
    to.v[share.partial * channels + share.channel] = all;
}
#endif
