#version 460
// y = softmax(scale * q k^T + mask) v, one query per lane, with a running maximum and sum; lse is the logarithm of the
// sum of exponentials. If all keys of a query are masked, y is 0 and lse is infinity.
//
//   lse [B, H, T] is contiguous, and so are the columns of y; strides of k and v count texels
//   groups     all_heads * ceil(queries / 64)
// variants: attention: ; attention_texel: -DTEXELS
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/philox.glsl"
#include "common/attention.glsl"

RECORD(attention)
INPUT(q) INPUT(k) INPUT(v) INPUT(mask) OUTPUT(y) OUTPUT(lse)
FLOAT(scale) FLOAT(kept_scale)
MEMBER(AttentionSizes, sizes) MEMBER(Strides, mask_strides) INT(threshold) MEMBER(RandomState, random)
MEMBER(Strides, q_strides) MEMBER(RowStrides, k_strides) MEMBER(RowStrides, v_strides) MEMBER(RowStrides, y_strides)
END_RECORD

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
    const uint threshold = uint(record.threshold), seed_low = uint(record.random.seed_low),
               seed_high = uint(record.random.seed_high), ordinal_low = uint(record.random.ordinal_low),
               ordinal_high = uint(record.random.ordinal_high);
    const uvec4 q_stride = UVEC4(record.q_strides);
    const uvec3 k_stride = UVEC3(record.k_strides), v_stride = UVEC3(record.v_strides),
                y_stride = UVEC3(record.y_strides);

    const uint tiles = (queries + 63u) / 64u, group = flat_group(), head_of_all = quotient(group, tiles);
    const uint t = (group - head_of_all * tiles) * 64u + gl_LocalInvocationID.x;
    if (head_of_all >= all_heads || t >= queries)
        return;
    const uint b = quotient(head_of_all, heads), h = head_of_all - b * heads;
    const uint g = quotient(h, quotient(heads, key_heads));
    const uint k_at = b * k_stride.x + g * k_stride.y, v_at = b * v_stride.x + g * v_stride.y;
    const uint mask_at = b * mask_stride.x + h * mask_stride.y + t * mask_stride.z;
    const uint count = CAUSAL != 0u ? min(keys, t + 1u) : keys, fours = (keys + 3u) / 4u;

    vec4 q[ROOM_E4];
    precise vec4 o[ROOM_F4];
    const uint q_at = b * q_stride.x + h * q_stride.y + t * q_stride.z;
    for (uint d = 0u; d < E4; ++d) q[d] = own4(Floats(from_q.address), q_at, q_stride.w, 4u * d, features);
    for (uint f = 0u; f < F4; ++f) o[f] = vec4(0.0);

    precise float largest = -rp_inf(), total = 0.0;
    for (uint s = 0u; s < count; s += 4u) {
        const uvec4 row = min(uvec4(s, s + 1u, s + 2u, s + 3u), uvec4(keys - 1u));
        const uvec4 k_row = k_at + row * k_stride.z;
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
        score = mix(vec4(-rp_inf()), score, lessThan(s + uvec4(0u, 1u, 2u, 3u), uvec4(count)));

        const float before = largest;
        largest = rp_max(largest, rp_max(rp_max(score.x, score.y), rp_max(score.z, score.w)));
        const float shift = largest == -rp_inf() ? 0.0 : largest; // all keys so far are masked
        precise float behind = before - shift;
        const float shrink = rp_exp(behind);
        precise vec4 ahead = score - shift;
        precise vec4 p = exponential(ahead);
        total = total * shrink + ((p.x + p.y) + (p.z + p.w));
        if (DROPOUT != 0u) {
            const uint place = (head_of_all * queries + t) * fours + s / 4u;
            const rp_words w = rp_random(place, ordinal_low, ordinal_high, seed_low, seed_high);
            p *= kept_scale;
            p = mix(p, vec4(0.0), bvec4(rp_dropped(w.x, threshold), rp_dropped(w.y, threshold),
                                        rp_dropped(w.z, threshold), rp_dropped(w.w, threshold)));
        }
        const uvec4 v_row = v_at + row * v_stride.z;
        for (uint f = 0u; f < F4; ++f) {
            const vec4 v0 = ROW(from_v, v_row.x + f), v1 = ROW(from_v, v_row.y + f);
            const vec4 v2 = ROW(from_v, v_row.z + f), v3 = ROW(from_v, v_row.w + f);
            precise vec4 four = (p.x * v0 + p.y * v1) + (p.z * v2 + p.w * v3);
            o[f] = o[f] * shrink + four;
        }
    }

    const bool hidden = rp_is_zero(total);
    const uint y_at = b * y_stride.x + h * y_stride.y + t * y_stride.z;
    for (uint f = 0u; f < F4; ++f) {
        precise vec4 result = o[f] / total;
        put4(y_to, y_at, 4u * f, value_features, hidden ? vec4(0.0) : result);
    }
    precise float lse = largest + rp_log(total);
    lse_to.v[head_of_all * queries + t] = hidden ? rp_inf() : lse;
}
