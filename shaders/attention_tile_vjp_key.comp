// variants: attention_tile_vjp_key_32: -DBLOCKS=1 -DSPLIT -DOF_KEY -DOF_VALUE
// variants: attention_tile_vjp_key_64: -DBLOCKS=1 -DOF_KEY -DOF_VALUE
// variants: attention_tile_vjp_key_128: -DBLOCKS=2 -DOF_KEY ; attention_tile_vjp_value_128: -DBLOCKS=2 -DOF_VALUE
// variants: attention_tile_vjp_key_256: -DBLOCKS=4 -DOF_KEY ; attention_tile_vjp_value_256: -DBLOCKS=4 -DOF_VALUE
// variants: attention_tile_vjp_key_half_32: -DHALF -DBLOCKS=1 -DSPLIT -DOF_KEY -DOF_VALUE
// variants: attention_tile_vjp_key_half_64: -DHALF -DBLOCKS=1 -DOF_KEY -DOF_VALUE
// variants: attention_tile_vjp_key_half_128: -DHALF -DBLOCKS=2 -DOF_KEY
// variants: attention_tile_vjp_value_half_128: -DHALF -DBLOCKS=2 -DOF_VALUE
// variants: attention_tile_vjp_key_half_256: -DHALF -DBLOCKS=4 -DOF_KEY
// variants: attention_tile_vjp_value_half_256: -DHALF -DBLOCKS=4 -DOF_VALUE
#version 460
// The gradients by key and value, 64 keys for each group; the query heads that share them are added in order.  With p,
// share and dp as in attention_tile_vjp_query.comp: dv = sum of p dy after dropout, dk = scale * sum of p (dp - share)
// q.  Heads of more than 64 features have a launch for each of the two, as their sums would take more registers than
// there are.
//
//   lse and share [B, H, T] are contiguous, and so are the columns of dk and dv; strides of q, k, v and dy count texels
//   groups     all_heads * ceil(keys / 64)
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/philox.glsl"
#include "common/attention_tile.glsl"

RECORD(attention_tile_vjp_key)
INPUT(q) INPUT(k) INPUT(v) INPUT(mask) INPUT(dy) INPUT(lse) INPUT(share) OUTPUT(dk) OUTPUT(dv)
FLOAT(scale) FLOAT(kept_scale)
MEMBER(AttentionSizes, sizes) MEMBER(Strides, mask_strides) INT(threshold) MEMBER(RandomState, random)
MEMBER(RowStrides, q_strides) MEMBER(RowStrides, k_strides) MEMBER(RowStrides, v_strides)
MEMBER(RowStrides, dy_strides) MEMBER(RowStrides, dk_strides) MEMBER(RowStrides, dv_strides)
END_RECORD

#ifdef OF_KEY
vec4 of_key[BLOCKS][4][1], ds[4][1];
#endif
#ifdef OF_VALUE
vec4 of_value[BLOCKS][4][1], kept[4][1];
#endif

// A row is a key, with four queries from `query` on.
#define WEIGH_ROW(i)                                                                                          \
    {                                                                                                         \
        const uint s = min(first_row + i, keys - 1u);                                                         \
        precise vec4 score = scores[i] * scale;                                                               \
        if (MASK != 0u)                                                                                       \
            score = masked_by(mask, b * mask_stride.x + h * mask_stride.y + s * mask_stride.w, query,         \
                              queries, mask_stride.z, score);                                                 \
        precise vec4 behind = score - lse;                                                                    \
        vec4 p = exponential(behind);                                                                         \
        const uvec4 t = query + uvec4(0u, 1u, 2u, 3u);                                                        \
        p = mix(vec4(0.0), p, lessThan(t, uvec4(queries)));                                                   \
        if (CAUSAL != 0u) p = mix(vec4(0.0), p, greaterThanEqual(t, uvec4(s)));                               \
        const bvec4 dropped = bvec4(dropped_0[i], dropped_1[i], dropped_2[i], dropped_3[i]);                  \
        WEIGH_KEY(i)                                                                                          \
        WEIGH_VALUE(i)                                                                                        \
    }
#ifdef OF_KEY
#define WEIGH_KEY(i)                                                             \
    vec4 dp = sum[i][0];                                                         \
    if (DROPOUT != 0u) dp = after_dropout(dp, kept_scale, dropped);              \
    precise vec4 d = p * (dp - share);                                           \
    ds[i][0] = d;
#define STORE_KEY(block, i)                                                      \
    {                                                                            \
        precise vec4 dk = of_key[block][i][0] * scale;                           \
        store_result(to_k, to_k_at, 64u * block + other_row(), features, dk);    \
    }
#else
#define WEIGH_KEY(i)
#define STORE_KEY(block, i)
#endif
#ifdef OF_VALUE
#define WEIGH_VALUE(i) kept[i][0] = DROPOUT != 0u ? after_dropout(p, kept_scale, dropped) : p;
#define STORE_VALUE(block, i) \
    store_result(to_v, to_v_at, 64u * block + other_row(), value_features, of_value[block][i][0]);
#else
#define WEIGH_VALUE(i)
#define STORE_VALUE(block, i)
#endif
#define STORE_ROW(i)                                                             \
    if (first_row + i < keys) {                                                  \
        const uint to_k_at = row_at(b, g, first_row + i, to_k_stride);           \
        const uint to_v_at = row_at(b, g, first_row + i, to_v_stride);           \
        EACH_BLOCK(STORE_KEY, i)                                                 \
        EACH_BLOCK(STORE_VALUE, i)                                               \
    }

void main()
{
    const float scale = record.scale, kept_scale = record.kept_scale;
    const uvec2 mask = record.mask.address;
    Floats lses = Floats(record.lse.address), shares = Floats(record.share.address);
    const AttentionSizes sizes = record.sizes;
    const uint queries = sizes.queries, keys = sizes.keys, heads = sizes.heads, key_heads = sizes.key_heads,
               features = sizes.features, value_features = sizes.value_features, fours = (keys + 3u) / 4u;
    const uvec4 mask_stride = UVEC4(record.mask_strides);
    const uvec3 q_stride = UVEC3(record.q_strides), k_stride = UVEC3(record.k_strides),
                v_stride = UVEC3(record.v_strides), dy_stride = UVEC3(record.dy_strides);
    const Dropout dropout = dropout_of(record.threshold, record.random);

    const Place place = place_of_group(keys);
    if (place.head_of_all >= sizes.all_heads) return;
    const uint b = quotient(place.head_of_all, key_heads), g = place.head_of_all - b * key_heads;
    const uint sharing = quotient(heads, key_heads), first_row = place.first + own_row();
    const Rows k = rows_of(record.k, row_at(b, g, 0u, k_stride), k_stride.z, keys, features);
    const Rows v = rows_of(record.v, row_at(b, g, 0u, v_stride), v_stride.z, keys, value_features);

#ifdef OF_KEY
    CLEAR_RESULTS(of_key)
#endif
#ifdef OF_VALUE
    CLEAR_RESULTS(of_value)
#endif
    for (uint i = 0u; i < sharing; ++i) {
        const uint h = g * sharing + i, first_of_head = (b * heads + h) * queries;
        const Rows q = rows_of(record.q, row_at(b, h, 0u, q_stride), q_stride.z, queries, features);
        const Rows dy = rows_of(record.dy, row_at(b, h, 0u, dy_stride), dy_stride.z, queries, value_features);
        // The first query that attends to a key of this group is place.first, a multiple of 64.
        for (uint first = CAUSAL != 0u ? place.first : 0u; first < queries; first += ROWS) {
            const uint query = first + other_row();
            multiply(k, place.first, q, first);
            const vec4 scores[4] = {sum[0][0], sum[1][0], sum[2][0], sum[3][0]};
#ifdef OF_KEY
            multiply(v, place.first, dy, first);
            const vec4 share = load4(shares, first_of_head, query, queries);
#endif
            const vec4 lse = load4(lses, first_of_head, query, queries);
            // Of four keys, for each query.
            bvec4 dropped_0 = bvec4(false), dropped_1 = dropped_0, dropped_2 = dropped_0, dropped_3 = dropped_0;
            if (DROPOUT != 0u) {
                const uvec4 counter =
                    (first_of_head + min(query + uvec4(0u, 1u, 2u, 3u), uvec4(queries - 1u))) * fours + first_row / 4u;
                dropped_0 = dropped_keys(dropout, counter.x);
                dropped_1 = dropped_keys(dropout, counter.y);
                dropped_2 = dropped_keys(dropout, counter.z);
                dropped_3 = dropped_keys(dropout, counter.w);
            }
            EACH_ROW(WEIGH_ROW)
#ifdef OF_VALUE
            STORE_WEIGHTS(kept)
            ADD_WEIGHTED_ROWS(of_value, dy, first)
#endif
#ifdef OF_KEY
            STORE_WEIGHTS(ds)
            ADD_WEIGHTED_ROWS(of_key, q, first)
#endif
        }
    }
#ifdef OF_KEY
    JOIN_HALVES(of_key)
#endif
#ifdef OF_VALUE
    JOIN_HALVES(of_value)
#endif
    const uvec2 to_k = record.dk.address, to_v = record.dv.address;
    const uvec3 to_k_stride = UVEC3(record.dk_strides), to_v_stride = UVEC3(record.dv_strides);
    EACH_ROW(STORE_ROW)
}
