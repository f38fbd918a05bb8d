// variants: batch_norm_sums: ; batch_norm_sums_texel: -DTEXELS
// Partial statistics of each channel: mean, sum of squared deviations from it, count. Those of a chunk are computed
// around its own mean and merged into the partial (Chan, Golub, LeVeque 1979), which avoids cancellation.
//
//   x         [images, channels, image]
//   partials  [partial_count][channels] of vec4
//   groups    ceil(channels * partial_count / 64)
//   texel     x in the slab; image a multiple of 4
#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef TEXELS
#define SLAB
#endif
#include "common/abi.glsl"
#include "common/batch_norm.glsl"

RECORD(batch_norm_sums)
INPUT(x) OUTPUT(partials)
INT(images) INT(channels) INT(image) INT(partial_count)
END_RECORD

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

    precise float mean = 0.0, squares = 0.0, count = 0.0;
    for (uint block = share.partial * BLOCK; block < n; block += partials * BLOCK) {
        Walk w = walk_from(block, share.channel, channels, image);
        const uint end = min(block + BLOCK, n);
        for (uint first = block; first < end; first += CHUNK) {
            const int left = int(min(end - first, CHUNK));
#define LOAD(i)                                    \
    precise vec4 t##i = four(x, w, left - 4 * i);  \
    next_four(w);
            EACH_8(LOAD)
            precise vec4 sums = TREE(t);
            precise float chunk = float(left), average = LANES(sums) / chunk;
#define DEVIATE(i)                                                                                   \
    precise vec4 d##i = mix(vec4(0.0), t##i - average, lessThan(ivec4(0, 1, 2, 3), ivec4(left - 4 * i))); \
    precise vec4 q##i = d##i * d##i;
            EACH_8(DEVIATE)
            precise vec4 square_sums = TREE(q);
            precise float total = count + chunk, delta = average - mean, part = chunk / total;
            mean += delta * part;
            squares += LANES(square_sums) + delta * delta * (count * part);
            count = total;
        }
    }
    to.v[share.partial * channels + share.channel] = vec4(mean, squares, count, 0.0);
}
