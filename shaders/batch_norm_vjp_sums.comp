// variants: batch_norm_vjp_sums: ; batch_norm_vjp_sums_texel: -DTEXELS
// variants: batch_norm_vjp_sums_group: -DGROUP ; batch_norm_vjp_sums_group_vec4: -DGROUP -DVEC4
// Partial sums of each channel: dy, dy * (x - mean).
//
//   dy, x     [images, channels, image]
//   mean      [channels / sharing]: `sharing` channels share each mean
//   partials  [partial_count][channels] of vec4
//   groups    ceil(channels * partial_count / 64), with GROUP channels * partial_count
//   texel     dy and x in the slab; image a multiple of 4
#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef TEXELS
#define SLAB
#endif
#include "common/abi.glsl"
#ifdef GROUP
#include "common/batch_norm_group.glsl"
#else
#include "common/batch_norm.glsl"
#endif

RECORD(batch_norm_vjp_sums)
INPUT(dy) INPUT(x) INPUT(mean) OUTPUT(partials)
INT(images) INT(channels) INT(image) INT(partial_count) INT(sharing)
END_RECORD

#ifdef GROUP
void main()
{
    const Channel c = channel_of_group(record.images, record.channels, record.image, record.partial_count);
    if (c.channel >= c.channels) return;
    const uvec2 dy = record.dy.address, x = record.x.address, to = record.partials.address;
    const uint lane = gl_LocalInvocationIndex, step = record.partial_count * BLOCK;
    const float mean = ReadFloats(record.mean.address).v[quotient(c.channel, record.sharing)];

    precise float sum = 0.0, product_sum = 0.0;
    for (uint block = c.partial * BLOCK; block < c.n; block += step) {
        const uint first = block + lane * 4u;
#define PLACE(i) const POSITIONS at##i = positions(c, FOUR(i));
        EACH_8(PLACE)
#define LOAD(i) const vec4 dy##i = four(dy, at##i), x##i = four(x, at##i);
        EACH_8(LOAD)
#define TAKE(i) precise vec4 g##i = existing(dy##i, c, FOUR(i)), p##i = existing(g##i * (x##i - mean), c, FOUR(i));
        EACH_8(TAKE)
        precise vec4 sums = SUM_OF_8(g), product_sums = SUM_OF_8(p);
        sum += SUM_OF_4(sums);
        product_sum += SUM_OF_4(product_sums);
    }
    STORE_PARTIAL(vec4(sum, product_sum, 0.0, 0.0), added)
}
#else
void main()
{
    const uint images = record.images, channels = record.channels, image = record.image;
    const uint partials = record.partial_count;
    const Operand dy = record.dy, x = record.x;
    Floats means = Floats(record.mean.address);
    Vec4s to = Vec4s(record.partials.address);
    const uint invocation = flat_group() * 64u + gl_LocalInvocationID.x;
    if (invocation >= channels * partials)
        return;
    const Share share = share_of(invocation, channels, partials, image);
    const uint n = images * image;
    const float mean = means.v[quotient(share.channel, record.sharing)];

    precise float sum = 0.0, product_sum = 0.0;
    for (uint block = share.partial * BLOCK; block < n; block += partials * BLOCK) {
        Walk w = walk_from(block, share.channel, channels, image);
        const uint end = min(block + BLOCK, n);
        precise vec4 sums = vec4(0.0), product_sums = vec4(0.0);
        for (uint first = block; first < end; first += CHUNK) {
            const int left = int(min(end - first, CHUNK));
#define LOAD(i)                                        \
    precise vec4 g##i = four(dy, w, left - 4 * i);     \
    precise vec4 x##i = four(x, w, left - 4 * i);      \
    precise vec4 p##i = g##i * (x##i - mean);          \
    next_four(w);
            EACH_8(LOAD)
            sums += SUM_OF_8(g);
            product_sums += SUM_OF_8(p);
        }
        sum += SUM_OF_4(sums);
        product_sum += SUM_OF_4(product_sums);
    }
    to.v[share.partial * channels + share.channel] = vec4(sum, product_sum, 0.0, 0.0);
}
#endif
