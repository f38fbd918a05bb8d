// variants: attention_tile_vjp_query_32: -DBLOCKS=1 -DSPLIT ; attention_tile_vjp_query_64: -DBLOCKS=1
// variants: attention_tile_vjp_query_128: -DBLOCKS=2 ; attention_tile_vjp_query_256: -DBLOCKS=4
// variants: attention_tile_vjp_query_half_32: -DHALF -DBLOCKS=1 -DSPLIT
// variants: attention_tile_vjp_query_half_64: -DHALF -DBLOCKS=1
// variants: attention_tile_vjp_query_half_128: -DHALF -DBLOCKS=2 ; attention_tile_vjp_query_half_256: -DHALF -DBLOCKS=4
#version 460
// The gradient by the query, 64 queries for each group: with p = exp(scale * q k^T + mask - lse), share = sum(dy * y)
// and dp = dy v^T after dropout, dq = scale * sum of p (dp - share) k.  Writes share, too, for attention_tile_vjp_key:
// the texels f / 4 are summed by f / 4 % 4, in order; of each of these four sums the components are added (0 + 1) + (2
// + 3), and the four sums likewise.
//
//   lse and share [B, H, T] are contiguous, and so are the columns of dq; strides of q, k, v, dy and y count texels
//   groups     all_heads * ceil(queries / 64)
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/philox.glsl"
#include "common/attention_tile.glsl"

RECORD(attention_tile_vjp_query)
INPUT(q) INPUT(k) INPUT(v) INPUT(mask) INPUT(dy) INPUT(y) INPUT(lse) OUTPUT(share) OUTPUT(dq)
FLOAT(scale) FLOAT(kept_scale)
MEMBER(AttentionSizes, sizes) MEMBER(Strides, mask_strides) INT(threshold) MEMBER(RandomState, random)
MEMBER(RowStrides, q_strides) MEMBER(RowStrides, k_strides) MEMBER(RowStrides, v_strides)
MEMBER(RowStrides, dy_strides) MEMBER(RowStrides, y_strides) MEMBER(RowStrides, dq_strides)
END_RECORD

vec4 result[BLOCKS][4][1];

#define WEIGH_ROW(i)                                                                                          \
    {                                                                                                         \
        const uint t = min(first_row + i, queries - 1u), count = CAUSAL != 0u ? min(keys, t + 1u) : keys;     \
        precise vec4 score = scores[i] * scale;                                                              \
        if (MASK != 0u)                                                                                       \
            score = masked_by(mask, row_at(b, h, t, mask_stride), key, keys, mask_stride.w, score);           \
        precise vec4 behind = score - lse[i];                                                                 \
        vec4 p = exponential(behind);                                                                         \
        p = mix(vec4(0.0), p, lessThan(key + uvec4(0u, 1u, 2u, 3u), uvec4(count)));                           \
        vec4 dp = sum[i][0];                                                                                  \
        if (DROPOUT != 0u) {                                                                                  \
            const bvec4 dropped = dropped_keys(dropout, (first_of_head + t) * fours + key / 4u);              \
            dp = after_dropout(dp, kept_scale, dropped);                                                      \
        }                                                                                                     \
        precise vec4 ds = p * (dp - share[i]);                                                                \
        sum[i][0] = ds;                                                                                       \
    }
#define STORE_ROW(i)                                                                                          \
    if (first_row + i < queries) {                                                                            \
        const uint t = first_row + i, to_at = row_at(b, h, t, to_stride);                                     \
        EACH_BLOCK(STORE_DQ, i)                                                                               \
        if (lane_column() == 0u) shares.v[first_of_head + t] = share[i];                                      \
    }
#define STORE_DQ(block, i)                                                                                    \
    {                                                                                                         \
        precise vec4 dq = result[block][i][0] * scale;                                                        \
        store_result(to, to_at, 64u * block + other_row(), features, dq);                                     \
    }

// Returns the shares of a lane's four rows.
vec4 shares_of(Rows dy, Rows y, uint first)
{
    const uint lane = gl_LocalInvocationIndex, row = min(first + lane / 4u, dy.count - 1u);
    precise vec4 part = vec4(0.0);
    for (uint f = lane % 4u; f < dy.fours; f += 4u)
        part += wide(load_texel(dy.address, dy.at + row * dy.stride + f)) * wide(load_texel(y.address, y.at + row * y.stride + f));
    tile_b[lane / 4u][lane % 4u] = lanes(part);
    barrier();
    const vec4 found = vec4(lanes(tile_b[own_row()]), lanes(tile_b[own_row() + 1u]), lanes(tile_b[own_row() + 2u]),
                            lanes(tile_b[own_row() + 3u]));
    barrier();
    return found;
}

void main()
{
    const float scale = record.scale, kept_scale = record.kept_scale;
    const uvec2 mask = record.mask.address;
    Floats lses = Floats(record.lse.address);
    const AttentionSizes sizes = record.sizes;
    const uint queries = sizes.queries, keys = sizes.keys, heads = sizes.heads, features = sizes.features,
               value_features = sizes.value_features, fours = (keys + 3u) / 4u;
    const uvec4 mask_stride = UVEC4(record.mask_strides);
    const uvec3 q_stride = UVEC3(record.q_strides), k_stride = UVEC3(record.k_strides),
                v_stride = UVEC3(record.v_strides), dy_stride = UVEC3(record.dy_strides),
                y_stride = UVEC3(record.y_strides);
    const Dropout dropout = dropout_of(record.threshold, record.random);

    const Place place = place_of_group(queries);
    if (place.head_of_all >= sizes.all_heads) return;
    const uint b = quotient(place.head_of_all, heads), h = place.head_of_all - b * heads;
    const uint g = quotient(h, quotient(heads, sizes.key_heads)), first_of_head = place.head_of_all * queries;
    const Rows q = rows_of(record.q, row_at(b, h, 0u, q_stride), q_stride.z, queries, features);
    const Rows k = rows_of(record.k, row_at(b, g, 0u, k_stride), k_stride.z, keys, features);
    const Rows v = rows_of(record.v, row_at(b, g, 0u, v_stride), v_stride.z, keys, value_features);
    const Rows dy = rows_of(record.dy, row_at(b, h, 0u, dy_stride), dy_stride.z, queries, value_features);
    const Rows y = rows_of(record.y, row_at(b, h, 0u, y_stride), y_stride.z, queries, value_features);
    const uint first_row = place.first + own_row(), end = CAUSAL != 0u ? min(keys, place.first + ROWS) : keys;

    const vec4 share = shares_of(dy, y, place.first);
    CLEAR_RESULTS(result)
    for (uint first = 0u; first < end; first += ROWS) {
        multiply(q, place.first, k, first);
        const uint key = first + other_row();
        const vec4 scores[4] = {sum[0][0], sum[1][0], sum[2][0], sum[3][0]};
        multiply(dy, place.first, v, first);
        const vec4 lse = load4(lses, first_of_head, first_row, queries); // not before: registers are few
        EACH_ROW(WEIGH_ROW)
        STORE_WEIGHTS(sum)
        ADD_WEIGHTED_ROWS(result, k, first)
    }
    JOIN_HALVES(result)
    const uvec2 to = record.dq.address;
    Floats shares = Floats(record.share.address);
    const uvec3 to_stride = UVEC3(record.dq_strides);
    EACH_ROW(STORE_ROW)
}
