#version 460
// The gradients by key and value, one key per lane; the query heads that share it are added in order. With p, share and
// dp as in attention_vjp_query.comp: dv = sum of p dy after dropout, dk = scale * sum of p (dp - share) q.
//
//   lse and share [B, H, T] are contiguous, and so are the columns of dk and dv; strides of q and dy count texels
//   groups     all_heads * ceil(keys / 64)
// variants: attention_vjp_key: ; attention_vjp_key_texel: -DTEXELS
// devices: Vulkan
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/philox.glsl"
#include "common/attention_lane.glsl"

RECORD(attention_vjp_key)
INPUT(q) INPUT(k) INPUT(v) INPUT(mask) INPUT(dy) INPUT(lse) INPUT(share) OUTPUT(dk) OUTPUT(dv)
FLOAT(scale) FLOAT(kept_scale)
MEMBER(AttentionSizes, sizes) MEMBER(Strides, mask_strides) INT(threshold) MEMBER(RandomState, random)
MEMBER(RowStrides, q_strides) MEMBER(RowStrides, dy_strides) MEMBER(Strides, k_strides) MEMBER(Strides, v_strides)
MEMBER(RowStrides, dk_strides) MEMBER(RowStrides, dv_strides)
END_RECORD

// Returns whether the weights of four queries, for the counters' k-th key, are dropped.
bvec4 dropped_queries(Dropout d, uvec4 counter, uint k)
{
    return bvec4(dropped_key(d, counter.x, k), dropped_key(d, counter.y, k), dropped_key(d, counter.z, k),
                 dropped_key(d, counter.w, k));
}

// Returns the weights of a key for four queries; 0 after the last query and, if CAUSAL, before the key.
vec4 weights(vec4 score, vec4 lse, uvec4 query, uint queries, uint key)
{
    precise vec4 behind = score - lse;
    vec4 p = exponential(behind);
    p = mix(vec4(0.0), p, lessThan(query, uvec4(queries)));
    if (CAUSAL != 0u)
        p = mix(vec4(0.0), p, greaterThanEqual(query, uvec4(key)));
    return p;
}

void main()
{
    const float scale = record.scale, kept_scale = record.kept_scale;
    const Operand from_q = record.q, from_dy = record.dy;
    Floats from_k = Floats(record.k.address), from_v = Floats(record.v.address),
           lses = Floats(record.lse.address), shares = Floats(record.share.address),
           to_k = Floats(record.dk.address), to_v = Floats(record.dv.address);
    const uvec2 mask = record.mask.address;
    const AttentionSizes sizes = record.sizes;
    const uint queries = sizes.queries, keys = sizes.keys, heads = sizes.heads, key_heads = sizes.key_heads,
               features = sizes.features, value_features = sizes.value_features, all_heads = sizes.all_heads;
    const uvec4 mask_stride = UVEC4(record.mask_strides);
    const Dropout dropout = dropout_of(record.threshold, record.random);
    const uvec3 q_stride = UVEC3(record.q_strides), dy_stride = UVEC3(record.dy_strides);
    const uvec4 k_stride = UVEC4(record.k_strides), v_stride = UVEC4(record.v_strides);
    const uvec3 to_k_stride = UVEC3(record.dk_strides), to_v_stride = UVEC3(record.dv_strides);

    const Place place = place_of_lane(keys);
    const uint head_of_all = place.head_of_all, s = place.row;
    if (head_of_all >= all_heads || s >= keys)
        return;
    const uint b = quotient(head_of_all, key_heads), g = head_of_all - b * key_heads;
    const uint sharing = quotient(heads, key_heads), fours = (keys + 3u) / 4u;
    // The first query that attends to the first key of this workgroup.
    const uint from = CAUSAL != 0u ? place.first : 0u;

    vec4 k[E4], v[F4];
    precise vec4 dk[E4], dv[F4];
    const uint k_at = row_at(b, g, s, k_stride), v_at = row_at(b, g, s, v_stride);
    for (uint d = 0u; d < E4; ++d) {
        k[d] = own4(from_k, k_at, k_stride.w, 4u * d, features);
        dk[d] = vec4(0.0);
    }
    for (uint f = 0u; f < F4; ++f) {
        v[f] = own4(from_v, v_at, v_stride.w, 4u * f, value_features);
        dv[f] = vec4(0.0);
    }

    for (uint i = 0u; i < sharing; ++i) {
        const uint h = g * sharing + i, query_head = b * heads + h;
        const uint q_at = row_at(b, h, 0u, q_stride), dy_at = row_at(b, h, 0u, dy_stride);
        const uint mask_at = b * mask_stride.x + h * mask_stride.y + s * mask_stride.w;
        for (uint t = from; t < queries; t += 4u) {
            const uvec4 query = uvec4(t, t + 1u, t + 2u, t + 3u), row = min(query, uvec4(queries - 1u));
            const uvec4 q_row = q_at + row * q_stride.z, dy_row = dy_at + row * dy_stride.z;
            const uvec4 number = query_head * queries + row;
            Four products = zeros();
            for (uint d = 0u; d < E4; ++d) add_products(products, k[d], load_rows(from_q, q_row + d));
            const vec4 score = scores(products, scale, mask, mask_at, row, mask_stride.z);
            const vec4 p = weights(score, load4(lses, number), query, queries, s);

            products = zeros();
            for (uint f = 0u; f < F4; ++f) add_products(products, v[f], load_rows(from_dy, dy_row + f));
            vec4 dp = totals(products), kept = p;
            if (DROPOUT != 0u) {
                const bvec4 dropped = dropped_queries(dropout, number * fours + s / 4u, s & 3u);
                dp = after_dropout(dp, kept_scale, dropped);
                kept = after_dropout(kept, kept_scale, dropped);
            }
            precise vec4 ds = p * (dp - load4(shares, number));
            for (uint d = 0u; d < E4; ++d) dk[d] += weighted_sum(ds, load_rows(from_q, q_row + d));
            for (uint f = 0u; f < F4; ++f) dv[f] += weighted_sum(kept, load_rows(from_dy, dy_row + f));
        }
    }
    const uint to_k_at = row_at(b, g, s, to_k_stride), to_v_at = row_at(b, g, s, to_v_stride);
    for (uint d = 0u; d < E4; ++d) {
        precise vec4 result = dk[d] * scale;
        put4(to_k, to_k_at, 4u * d, features, result);
    }
    for (uint f = 0u; f < F4; ++f) put4(to_v, to_v_at, 4u * f, value_features, dv[f]);
}
