#version 460
// The gradient by the query, one query per lane: with p = exp(scale * q k^T + mask - lse), share = sum(dy * y) and
// dp = dy v^T after dropout, dq = scale * sum of p (dp - share) k. Writes share, too.
//
//   lse and share [B, H, T] are contiguous, and so are the columns of y and dq; strides of k and v count texels
//   groups     all_heads * ceil(queries / 64)
// variants: attention_vjp_query: ; attention_vjp_query_texel: -DTEXELS
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/philox.glsl"
#include "common/attention.glsl"

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
    const uint threshold = uint(record.threshold), seed_low = uint(record.random.seed_low),
               seed_high = uint(record.random.seed_high), ordinal_low = uint(record.random.ordinal_low),
               ordinal_high = uint(record.random.ordinal_high);
    const uvec4 q_stride = UVEC4(record.q_strides), dy_stride = UVEC4(record.dy_strides);
    const uvec3 k_stride = UVEC3(record.k_strides), v_stride = UVEC3(record.v_strides),
                y_stride = UVEC3(record.y_strides), to_stride = UVEC3(record.dq_strides);

    const uint tiles = (queries + 63u) / 64u, group = flat_group(), head_of_all = quotient(group, tiles);
    const uint t = (group - head_of_all * tiles) * 64u + gl_LocalInvocationID.x;
    if (head_of_all >= all_heads || t >= queries)
        return;
    const uint b = quotient(head_of_all, heads), h = head_of_all - b * heads;
    const uint g = quotient(h, quotient(heads, key_heads));
    const uint k_at = b * k_stride.x + g * k_stride.y, v_at = b * v_stride.x + g * v_stride.y;
    const uint mask_at = b * mask_stride.x + h * mask_stride.y + t * mask_stride.z;
    const uint count = CAUSAL != 0u ? min(keys, t + 1u) : keys, fours = (keys + 3u) / 4u;

    vec4 q[ROOM_E4], dy[ROOM_F4];
    precise vec4 dq[ROOM_E4];
    const uint q_at = b * q_stride.x + h * q_stride.y + t * q_stride.z;
    for (uint d = 0u; d < E4; ++d) {
        q[d] = own4(from_q, q_at, q_stride.w, 4u * d, features);
        dq[d] = vec4(0.0);
    }
    const uint dy_at = b * dy_stride.x + h * dy_stride.y + t * dy_stride.z;
    const uint y_at = b * y_stride.x + h * y_stride.y + t * y_stride.z;
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
        precise vec4 a0 = vec4(0.0), a1 = vec4(0.0), a2 = vec4(0.0), a3 = vec4(0.0);
        for (uint d = 0u; d < E4; ++d) {
            const vec4 k0 = ROW(from_k, k_row.x + d), k1 = ROW(from_k, k_row.y + d);
            const vec4 k2 = ROW(from_k, k_row.z + d), k3 = ROW(from_k, k_row.w + d);
            a0 += q[d] * k0;
            a1 += q[d] * k1;
            a2 += q[d] * k2;
            a3 += q[d] * k3;
        }
        precise vec4 score = vec4(lanes(a0), lanes(a1), lanes(a2), lanes(a3)) * scale;
        if (MASK != 0u) {
            const uvec4 at = mask_at + row * mask_stride.w;
            score = vec4(masked(score.x, mask, at.x), masked(score.y, mask, at.y), masked(score.z, mask, at.z),
                         masked(score.w, mask, at.w));
        }
        precise vec4 behind = score - lse;
        precise vec4 p = exponential(behind);
        p = mix(vec4(0.0), p, lessThan(s + uvec4(0u, 1u, 2u, 3u), uvec4(count)));

        a0 = vec4(0.0);
        a1 = vec4(0.0);
        a2 = vec4(0.0);
        a3 = vec4(0.0);
        for (uint f = 0u; f < F4; ++f) {
            const vec4 v0 = ROW(from_v, v_row.x + f), v1 = ROW(from_v, v_row.y + f);
            const vec4 v2 = ROW(from_v, v_row.z + f), v3 = ROW(from_v, v_row.w + f);
            a0 += dy[f] * v0;
            a1 += dy[f] * v1;
            a2 += dy[f] * v2;
            a3 += dy[f] * v3;
        }
        precise vec4 dp = vec4(lanes(a0), lanes(a1), lanes(a2), lanes(a3));
        if (DROPOUT != 0u) {
            const uint place = (head_of_all * queries + t) * fours + s / 4u;
            const rp_words w = rp_random(place, ordinal_low, ordinal_high, seed_low, seed_high);
            dp *= kept_scale;
            dp = mix(dp, vec4(0.0), bvec4(rp_dropped(w.x, threshold), rp_dropped(w.y, threshold),
                                          rp_dropped(w.z, threshold), rp_dropped(w.w, threshold)));
        }
        precise vec4 ds = p * (dp - share);
        for (uint d = 0u; d < E4; ++d) {
            const vec4 k0 = ROW(from_k, k_row.x + d), k1 = ROW(from_k, k_row.y + d);
            const vec4 k2 = ROW(from_k, k_row.z + d), k3 = ROW(from_k, k_row.w + d);
            precise vec4 four = (ds.x * k0 + ds.y * k1) + (ds.z * k2 + ds.w * k3);
            dq[d] += four;
        }
    }
    const uint to_at = b * to_stride.x + h * to_stride.y + t * to_stride.z;
    for (uint d = 0u; d < E4; ++d) {
        precise vec4 result = dq[d] * scale;
        put4(to, to_at, 4u * d, features, result);
    }
}
