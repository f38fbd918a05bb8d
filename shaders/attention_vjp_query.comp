#version 460
// The gradient by the query, one query per lane: with p = exp(scale * q k^T + mask - lse), share = sum(dy * y) and
// dp = dy v^T after dropout, dq = scale * sum of p (dp - share) k. Writes share, too.
//
//   lse and share [B, H, T] are contiguous, and so are the columns of y and dq; strides of k and v count texels
//   groups     all_heads * ceil(queries / 64)
// variants: attention_vjp_query: ; attention_vjp_query_texel: -DTEXELS
// devices: Vulkan
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/philox.glsl"
#include "common/attention_lane.glsl"

RECORD(attention_vjp_query)
INPUT(q) INPUT(k) INPUT(v) INPUT(mask) INPUT(dy) INPUT(y) INPUT(lse) OUTPUT(share) OUTPUT(dq)
FLOAT(scale) FLOAT(kept_scale)
MEMBER(AttentionSizes, sizes) MEMBER(Strides, mask_strides) INT(threshold) MEMBER(RandomState, random)
MEMBER(Strides, q_strides) MEMBER(Strides, dy_strides)
MEMBER(RowStrides, k_strides) MEMBER(RowStrides, v_strides) MEMBER(RowStrides, y_strides) MEMBER(RowStrides, dq_strides)
END_RECORD

void main()
{
    const float scale = record.scale, kept_scale = record.kept_scale;
    const Operand from_k = record.k, from_v = record.v;
    Floats from_q = Floats(record.q.address), from_dy = Floats(record.dy.address),
           from_y = Floats(record.y.address), lses = Floats(record.lse.address),
           shares = Floats(record.share.address), to = Floats(record.dq.address);
    const uvec2 mask = record.mask.address;
    const AttentionSizes sizes = record.sizes;
    const uint queries = sizes.queries, keys = sizes.keys, heads = sizes.heads, key_heads = sizes.key_heads,
               features = sizes.features, value_features = sizes.value_features, all_heads = sizes.all_heads;
    const uvec4 mask_stride = UVEC4(record.mask_strides);
    const Dropout dropout = dropout_of(record.threshold, record.random);
    const uvec4 q_stride = UVEC4(record.q_strides), dy_stride = UVEC4(record.dy_strides);
    const uvec3 k_stride = UVEC3(record.k_strides), v_stride = UVEC3(record.v_strides),
                y_stride = UVEC3(record.y_strides), to_stride = UVEC3(record.dq_strides);

    const Place place = place_of_lane(queries);
    const uint head_of_all = place.head_of_all, t = place.row;
    if (head_of_all >= all_heads || t >= queries)
        return;
    const uint b = quotient(head_of_all, heads), h = head_of_all - b * heads;
    const uint g = quotient(h, quotient(heads, key_heads));
    const uint k_at = row_at(b, g, 0u, k_stride), v_at = row_at(b, g, 0u, v_stride);
    const uint mask_at = row_at(b, h, t, mask_stride);
    const uint count = CAUSAL != 0u ? min(keys, t + 1u) : keys, fours = (keys + 3u) / 4u;

    vec4 q[E4], dy[F4];
    precise vec4 dq[E4];
    const uint q_at = row_at(b, h, t, q_stride);
    for (uint d = 0u; d < E4; ++d) {
        q[d] = own4(from_q, q_at, q_stride.w, 4u * d, features);
        dq[d] = vec4(0.0);
    }
    const uint dy_at = row_at(b, h, t, dy_stride), y_at = row_at(b, h, t, y_stride);
    precise vec4 share4 = vec4(0.0);
    for (uint f = 0u; f < F4; ++f) {
        dy[f] = own4(from_dy, dy_at, dy_stride.w, 4u * f, value_features);
        share4 += dy[f] * own4(from_y, y_at, 1u, 4u * f, value_features);
    }
    const float share = lanes(share4), lse = lses.v[head_of_all * queries + t];
    shares.v[head_of_all * queries + t] = share;

    for (uint s = 0u; s < count; s += 4u) {
        const uvec4 row = min(uvec4(s, s + 1u, s + 2u, s + 3u), uvec4(keys - 1u));
        const uvec4 k_row = k_at + row * k_stride.z, v_row = v_at + row * v_stride.z;
        Four products = zeros();
        for (uint d = 0u; d < E4; ++d) add_products(products, q[d], load_rows(from_k, k_row + d));
        const vec4 score = scores(products, scale, mask, mask_at, row, mask_stride.w);
        precise vec4 behind = score - lse;
        precise vec4 p = exponential(behind);
        p = mix(vec4(0.0), p, lessThan(s + uvec4(0u, 1u, 2u, 3u), uvec4(count)));

        products = zeros();
        for (uint f = 0u; f < F4; ++f) add_products(products, dy[f], load_rows(from_v, v_row + f));
        precise vec4 dp = totals(products);
        if (DROPOUT != 0u) {
            const bvec4 dropped = dropped_keys(dropout, (head_of_all * queries + t) * fours + s / 4u);
            dp = after_dropout(dp, kept_scale, dropped);
        }
        precise vec4 ds = p * (dp - share);
        for (uint d = 0u; d < E4; ++d) dq[d] += weighted_sum(ds, load_rows(from_k, k_row + d));
    }
    const uint to_at = row_at(b, h, t, to_stride);
    for (uint d = 0u; d < E4; ++d) {
        precise vec4 result = dq[d] * scale;
        put4(to, to_at, 4u * d, features, result);
    }
}
