#version 460
// y = softmax(scale * q k^T + mask) v, one query per lane, with a running maximum and sum; lse is the logarithm of the
// sum of exponentials. If all keys of a query are masked, y is 0 and lse is infinity.
//
//   lse [B, H, T] is contiguous, and so are the columns of y; strides of k and v count texels
//   groups     all_heads * ceil(queries / 64)
// variants: attention: ; attention_texel: -DTEXELS
// devices: Vulkan
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/philox.glsl"
#include "common/attention_lane.glsl"

RECORD(attention)
INPUT(q) INPUT(k) INPUT(v) INPUT(mask) OUTPUT(y) OUTPUT(lse)
FLOAT(scale) FLOAT(kept_scale)
MEMBER(AttentionSizes, sizes) MEMBER(Strides, mask_strides) INT(threshold) MEMBER(RandomState, random)
MEMBER(Strides, q_strides) MEMBER(RowStrides, k_strides) MEMBER(RowStrides, v_strides) MEMBER(RowStrides, y_strides)
END_RECORD

// The largest of the scores so far, and the sum of their exponentials relative to it.
struct Softmax {
    float largest, total;
};
// Adds four scores and returns their exponentials.  Sums of earlier ones must be multiplied by `shrink`.
vec4 add_scores(inout Softmax so_far, vec4 score, out float shrink)
{
    const float before = so_far.largest;
    const float largest = rp_max(before, rp_max(rp_max(score.x, score.y), rp_max(score.z, score.w)));
    const float shift = largest == -rp_inf() ? 0.0 : largest; // all keys so far are masked
    precise float behind = before - shift;
    shrink = rp_exp(behind);
    precise vec4 ahead = score - shift;
    precise vec4 p = exponential(ahead);
    precise float total = so_far.total * shrink + ((p.x + p.y) + (p.z + p.w));
    so_far = Softmax(largest, total);
    return p;
}

void main()
{
    const float scale = record.scale, kept_scale = record.kept_scale;
    const Operand from_q = record.q, from_k = record.k, from_v = record.v;
    const uvec2 mask = record.mask.address;
    Floats y_to = Floats(record.y.address), lse_to = Floats(record.lse.address);
    const AttentionSizes sizes = record.sizes;
    const uint queries = sizes.queries, keys = sizes.keys, heads = sizes.heads, key_heads = sizes.key_heads,
               features = sizes.features, value_features = sizes.value_features, all_heads = sizes.all_heads;
    const uvec4 mask_stride = UVEC4(record.mask_strides);
    const Dropout dropout = dropout_of(record.threshold, record.random);
    const uvec4 q_stride = UVEC4(record.q_strides);
    const uvec3 k_stride = UVEC3(record.k_strides), v_stride = UVEC3(record.v_strides),
                y_stride = UVEC3(record.y_strides);

    const Place place = place_of_lane(queries);
    const uint head_of_all = place.head_of_all, t = place.row;
    if (head_of_all >= all_heads || t >= queries)
        return;
    const uint b = quotient(head_of_all, heads), h = head_of_all - b * heads;
    const uint g = quotient(h, quotient(heads, key_heads));
    const uint k_at = row_at(b, g, 0u, k_stride), v_at = row_at(b, g, 0u, v_stride);
    const uint mask_at = row_at(b, h, t, mask_stride);
    const uint count = CAUSAL != 0u ? min(keys, t + 1u) : keys, fours = (keys + 3u) / 4u;

    vec4 q[E4];
    precise vec4 o[F4];
    const uint q_at = row_at(b, h, t, q_stride);
    for (uint d = 0u; d < E4; ++d) q[d] = own4(Floats(from_q.address), q_at, q_stride.w, 4u * d, features);
    for (uint f = 0u; f < F4; ++f) o[f] = vec4(0.0);

    Softmax softmax = Softmax(-rp_inf(), 0.0);
    for (uint s = 0u; s < count; s += 4u) {
        const uvec4 row = min(uvec4(s, s + 1u, s + 2u, s + 3u), uvec4(keys - 1u));
        const uvec4 k_row = k_at + row * k_stride.z;
        Four products = zeros();
        for (uint d = 0u; d < E4; ++d) add_products(products, q[d], load_rows(from_k, k_row + d));
        precise vec4 score = scores(products, scale, mask, mask_at, row, mask_stride.w);
        score = mix(vec4(-rp_inf()), score, lessThan(s + uvec4(0u, 1u, 2u, 3u), uvec4(count)));

        float shrink;
        precise vec4 p = add_scores(softmax, score, shrink);
        if (DROPOUT != 0u) {
            const bvec4 dropped = dropped_keys(dropout, (head_of_all * queries + t) * fours + s / 4u);
            p = after_dropout(p, kept_scale, dropped);
        }
        const uvec4 v_row = v_at + row * v_stride.z;
        for (uint f = 0u; f < F4; ++f) o[f] = o[f] * shrink + weighted_sum(p, load_rows(from_v, v_row + f));
    }

    const bool hidden = rp_is_zero(softmax.total);
    const uint y_at = row_at(b, h, t, y_stride);
    for (uint f = 0u; f < F4; ++f) {
        precise vec4 result = o[f] / softmax.total;
        put4(y_to, y_at, 4u * f, value_features, hidden ? vec4(0.0) : result);
    }
    precise float lse = softmax.largest + rp_log(softmax.total);
    lse_to.v[head_of_all * queries + t] = hidden ? rp_inf() : lse;
}
