#version 460
// The gradients by key and value, one key per lane; the query heads that share it are added in order. With p, share and
// dp as in attention_vjp_query.comp: dv = sum of p dy after dropout, dk = scale * sum of p (dp - share) q.
//
//   lse and share [B, H, T] are contiguous, and so are the columns of dk and dv; strides of q and dy count texels
//   groups     all_heads * ceil(keys / 64)
// variants: attention_vjp_key: ; attention_vjp_key_texel: -DTEXELS
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/philox.glsl"
#include "common/attention.glsl"

RECORD(attention_vjp_key)
INPUT(q) INPUT(k) INPUT(v) INPUT(mask) INPUT(dy) INPUT(lse) INPUT(share) OUTPUT(dk) OUTPUT(dv)
FLOAT(scale) FLOAT(kept_scale)
MEMBER(AttentionSizes, sizes) MEMBER(Strides, mask_strides) INT(threshold) MEMBER(RandomState, random)
MEMBER(RowStrides, q_strides) MEMBER(RowStrides, dy_strides) MEMBER(Strides, k_strides) MEMBER(Strides, v_strides)
MEMBER(RowStrides, dk_strides) MEMBER(RowStrides, dv_strides)
END_RECORD

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
    const uint threshold = uint(record.threshold), seed_low = uint(record.random.seed_low),
               seed_high = uint(record.random.seed_high), ordinal_low = uint(record.random.ordinal_low),
               ordinal_high = uint(record.random.ordinal_high);
    const uvec3 q_stride = UVEC3(record.q_strides), dy_stride = UVEC3(record.dy_strides);
    const uvec4 k_stride = UVEC4(record.k_strides), v_stride = UVEC4(record.v_strides);
    const uvec3 to_k_stride = UVEC3(record.dk_strides), to_v_stride = UVEC3(record.dv_strides);

    const uint tiles = (keys + 63u) / 64u, group = flat_group(), head_of_all = quotient(group, tiles);
    const uint first = (group - head_of_all * tiles) * 64u, s = first + gl_LocalInvocationID.x;
    if (head_of_all >= all_heads || s >= keys)
        return;
    const uint b = quotient(head_of_all, key_heads), g = head_of_all - b * key_heads;
    const uint sharing = quotient(heads, key_heads), fours = (keys + 3u) / 4u;
    const uint from = CAUSAL != 0u ? first : 0u; // the first query that attends to the first key of this workgroup

    vec4 k[ROOM_E4], v[ROOM_F4];
    precise vec4 dk[ROOM_E4], dv[ROOM_F4];
    const uint k_at = b * k_stride.x + g * k_stride.y + s * k_stride.z;
    const uint v_at = b * v_stride.x + g * v_stride.y + s * v_stride.z;
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
        const uint q_at = b * q_stride.x + h * q_stride.y, dy_at = b * dy_stride.x + h * dy_stride.y;
        const uint mask_at = b * mask_stride.x + h * mask_stride.y + s * mask_stride.w;
        for (uint t = from; t < queries; t += 4u) {
            const uvec4 place = uvec4(t, t + 1u, t + 2u, t + 3u), row = min(place, uvec4(queries - 1u));
            const uvec4 q_row = q_at + row * q_stride.z, dy_row = dy_at + row * dy_stride.z;
            const uvec4 number = query_head * queries + row;
            precise vec4 a0 = vec4(0.0), a1 = vec4(0.0), a2 = vec4(0.0), a3 = vec4(0.0);
            for (uint d = 0u; d < E4; ++d) {
                const vec4 q0 = ROW(from_q, q_row.x + d), q1 = ROW(from_q, q_row.y + d);
                const vec4 q2 = ROW(from_q, q_row.z + d), q3 = ROW(from_q, q_row.w + d);
                a0 += k[d] * q0;
                a1 += k[d] * q1;
                a2 += k[d] * q2;
                a3 += k[d] * q3;
            }
            precise vec4 score = vec4(lanes(a0), lanes(a1), lanes(a2), lanes(a3)) * scale;
            if (MASK != 0u) {
                const uvec4 at = mask_at + row * mask_stride.z;
                score = vec4(masked(score.x, mask, at.x), masked(score.y, mask, at.y),
                             masked(score.z, mask, at.z), masked(score.w, mask, at.w));
            }
            precise vec4 behind =
                score - vec4(lses.v[number.x], lses.v[number.y], lses.v[number.z], lses.v[number.w]);
            precise vec4 p = exponential(behind);
            p = mix(vec4(0.0), p, lessThan(place, uvec4(queries)));
            if (CAUSAL != 0u)
                p = mix(vec4(0.0), p, greaterThanEqual(place, uvec4(s)));

            a0 = vec4(0.0);
            a1 = vec4(0.0);
            a2 = vec4(0.0);
            a3 = vec4(0.0);
            for (uint f = 0u; f < F4; ++f) {
                const vec4 g0 = ROW(from_dy, dy_row.x + f), g1 = ROW(from_dy, dy_row.y + f);
                const vec4 g2 = ROW(from_dy, dy_row.z + f), g3 = ROW(from_dy, dy_row.w + f);
                a0 += v[f] * g0;
                a1 += v[f] * g1;
                a2 += v[f] * g2;
                a3 += v[f] * g3;
            }
            precise vec4 dp = vec4(lanes(a0), lanes(a1), lanes(a2), lanes(a3)), kept = p;
            if (DROPOUT != 0u) {
                const uvec4 words = number * fours + s / 4u;
                const uint lane = s & 3u;
                bvec4 dropped;
#define DRAW(c)                                                                                              \
    {                                                                                                        \
        const rp_words w = rp_random(words.c, ordinal_low, ordinal_high, seed_low, seed_high);               \
        const uint word = lane == 0u ? w.x : lane == 1u ? w.y : lane == 2u ? w.z : w.w;                      \
        dropped.c = rp_dropped(word, threshold);                                                             \
    }
                DRAW(x)
                DRAW(y)
                DRAW(z)
                DRAW(w)
                dp *= kept_scale;
                kept *= kept_scale;
                dp = mix(dp, vec4(0.0), dropped);
                kept = mix(kept, vec4(0.0), dropped);
            }
            precise vec4 ds =
                p * (dp - vec4(shares.v[number.x], shares.v[number.y], shares.v[number.z], shares.v[number.w]));
            for (uint d = 0u; d < E4; ++d) {
                const vec4 q0 = ROW(from_q, q_row.x + d), q1 = ROW(from_q, q_row.y + d);
                const vec4 q2 = ROW(from_q, q_row.z + d), q3 = ROW(from_q, q_row.w + d);
                precise vec4 four = (ds.x * q0 + ds.y * q1) + (ds.z * q2 + ds.w * q3);
                dk[d] += four;
            }
            for (uint f = 0u; f < F4; ++f) {
                const vec4 g0 = ROW(from_dy, dy_row.x + f), g1 = ROW(from_dy, dy_row.y + f);
                const vec4 g2 = ROW(from_dy, dy_row.z + f), g3 = ROW(from_dy, dy_row.w + f);
                precise vec4 four = (kept.x * g0 + kept.y * g1) + (kept.z * g2 + kept.w * g3);
                dv[f] += four;
            }
        }
    }
    const uint to_k_at = b * to_k_stride.x + g * to_k_stride.y + s * to_k_stride.z;
    const uint to_v_at = b * to_v_stride.x + g * to_v_stride.y + s * to_v_stride.z;
    for (uint d = 0u; d < E4; ++d) {
        precise vec4 result = dk[d] * scale;
        put4(to_k, to_k_at, 4u * d, features, result);
    }
    for (uint f = 0u; f < F4; ++f) put4(to_v, to_v_at, 4u * f, value_features, dv[f]);
}
