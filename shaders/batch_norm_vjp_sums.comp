// variants: batch_norm_vjp_sums: ; batch_norm_vjp_sums_texel: -DTEXELS
// Partial sums of each channel: dy, dy * (x - mean).
//
//   dy, x     [images, channels, image]
//   mean      [channels / sharing]: `sharing` channels share each mean
//   partials  [partial_count][channels] of vec4
//   groups    ceil(channels * partial_count / 64)
//   texel     dy and x in the slab; image a multiple of 4
#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef TEXELS
#define SLAB
#endif
#include "common/abi.glsl"
#include "common/batch_norm.glsl"

RECORD(batch_norm_vjp_sums)
INPUT(dy) INPUT(x) INPUT(mean) OUTPUT(partials)
INT(images) INT(channels) INT(image) INT(partial_count) INT(sharing)
END_RECORD

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
            sums += TREE(g);
            product_sums += TREE(p);
        }
        sum += LANES(sums);
        product_sum += LANES(product_sums);
    }
    to.v[share.partial * channels + share.channel] = vec4(sum, product_sum, 0.0, 0.0);
}
