// variants: attention_tile_32: -DBLOCKS=1 -DSPLIT ; attention_tile_64: -DBLOCKS=1
// variants: attention_tile_128: -DBLOCKS=2 ; attention_tile_256: -DBLOCKS=4
// variants: attention_tile_half_32: -DHALF -DBLOCKS=1 -DSPLIT ; attention_tile_half_64: -DHALF -DBLOCKS=1
// variants: attention_tile_half_128: -DHALF -DBLOCKS=2 ; attention_tile_half_256: -DHALF -DBLOCKS=4
#version 460
// y = softmax(scale * q k^T + mask) v, 64 queries for each group, with a running maximum and sum; lse is the logarithm
// of the sum of exponentials.  If all keys of a query are masked, y is 0 and lse is infinity.
//
// The exponentials of a tile are relative to the largest score so far.  Of a query's sum, a lane adds those of its four
// keys of each tile, (0 + 1) + (2 + 3), and the sums of the 16 lanes are added in order.
//
//   lse [B, H, T] is contiguous, and so are the columns of y; strides of q, k and v count texels
//   groups     all_heads * ceil(queries / 64)
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/philox.glsl"
#include "common/attention_tile.glsl"

RECORD(attention_tile)
INPUT(q) INPUT(k) INPUT(v) INPUT(mask) OUTPUT(y) OUTPUT(lse)
FLOAT(scale) FLOAT(kept_scale)
MEMBER(AttentionSizes, sizes) MEMBER(Strides, mask_strides) INT(threshold) MEMBER(RandomState, random)
MEMBER(RowStrides, q_strides) MEMBER(RowStrides, k_strides) MEMBER(RowStrides, v_strides) MEMBER(RowStrides, y_strides)
END_RECORD

vec4 result[BLOCKS][4][1];

// What a lane does with each of its four rows i.  Macros are used since the loop unroller of spirv-opt drops
// NoContraction from its copies.
#define SCORE_ROW(i)                                                                                          \
    {                                                                                                         \
        const uint t = min(first_row + i, queries - 1u), count = CAUSAL != 0u ? min(keys, t + 1u) : keys;     \
        precise vec4 score = sum[i][0] * scale;                                                               \
        if (MASK != 0u)                                                                                       \
            score = masked_by(mask, row_at(b, h, t, mask_stride), key, keys, mask_stride.w, score);           \
        score = mix(vec4(-rp_inf()), score, lessThan(key + uvec4(0u, 1u, 2u, 3u), uvec4(count)));             \
        sum[i][0] = score;                                                                                    \
        most[i] = rp_max(rp_max(score.x, score.y), rp_max(score.z, score.w));                                 \
    }
#define WEIGH_ROW(i)                                                                                          \
    {                                                                                                         \
        precise vec4 ahead = sum[i][0] - shift[i];                                                            \
        precise vec4 p = exponential(ahead);                                                                  \
        precise float total = totals[i] * shrink[i] + lanes(p);                                               \
        totals[i] = total;                                                                                    \
        if (DROPOUT != 0u) {                                                                                  \
            const uint row = place.head_of_all * queries + min(first_row + i, queries - 1u);                  \
            p = after_dropout(p, kept_scale, dropped_keys(dropout, row * fours + key / 4u));                  \
        }                                                                                                     \
        sum[i][0] = p;                                                                                        \
        EACH_BLOCK(SHRINK, i)                                                                                 \
    }
#define SHRINK(block, i)                                       \
    {                                                          \
        precise vec4 smaller = result[block][i][0] * shrink[i]; \
        result[block][i][0] = smaller;                         \
    }
#define FINISH_ROW(i)                                                             \
    if (first_row + i < queries) {                                                \
        const uint t = first_row + i, y_at = row_at(b, h, t, y_stride);           \
        const bool hidden = rp_is_zero(totals[i]);                                \
        EACH_BLOCK(STORE_Y, i)                                                    \
        if (lane_column() == 0u) {                                                \
            precise float lse = largest[i] + rp_log(totals[i]);                   \
            lse_to.v[place.head_of_all * queries + t] = hidden ? rp_inf() : lse;  \
        }                                                                         \
    }
#define STORE_Y(block, i)                                                                                     \
    {                                                                                                         \
        precise vec4 y = result[block][i][0] / totals[i];                                                     \
        store_result(y_to, y_at, 64u * block + other_row(), value_features, hidden ? vec4(0.0) : y);          \
    }

void main()
{
    const float scale = record.scale, kept_scale = record.kept_scale;
    const uvec2 mask = record.mask.address;
    const AttentionSizes sizes = record.sizes;
    const uint queries = sizes.queries, keys = sizes.keys, heads = sizes.heads, features = sizes.features,
               value_features = sizes.value_features, fours = (keys + 3u) / 4u;
    const uvec4 mask_stride = UVEC4(record.mask_strides);
    const uvec3 q_stride = UVEC3(record.q_strides), k_stride = UVEC3(record.k_strides),
                v_stride = UVEC3(record.v_strides);
    const Dropout dropout = dropout_of(record.threshold, record.random);

    const Place place = place_of_group(queries);
    if (place.head_of_all >= sizes.all_heads) return;
    const uint b = quotient(place.head_of_all, heads), h = place.head_of_all - b * heads;
    const uint g = quotient(h, quotient(heads, sizes.key_heads));
    const Rows q = rows_of(record.q, row_at(b, h, 0u, q_stride), q_stride.z, queries, features);
    const Rows k = rows_of(record.k, row_at(b, g, 0u, k_stride), k_stride.z, keys, features);
    const Rows v = rows_of(record.v, row_at(b, g, 0u, v_stride), v_stride.z, keys, value_features);
    const uint first_row = place.first + own_row(), end = CAUSAL != 0u ? min(keys, place.first + ROWS) : keys;

    CLEAR_RESULTS(result)
    vec4 largest = vec4(-rp_inf()), totals = vec4(0.0);
    for (uint first = 0u; first < end; first += ROWS) {
        multiply(q, place.first, k, first);
        const uint key = first + other_row();
        vec4 most;
        EACH_ROW(SCORE_ROW)
        share_with_row(most);
        barrier();
        const vec4 before = largest;
        [[unroll]] for (uint column = 0u; column < 16u; ++column) {
            const vec4 other = shared_by(column);
            largest = vec4(rp_max(largest.x, other.x), rp_max(largest.y, other.y), rp_max(largest.z, other.z),
                           rp_max(largest.w, other.w));
        }
        const vec4 shift = mix(largest, vec4(0.0), equal(largest, vec4(-rp_inf()))); // all keys so far are masked
        precise vec4 behind = before - shift;
        const vec4 shrink = exponential(behind);
        EACH_ROW(WEIGH_ROW)
        STORE_WEIGHTS(sum)
        ADD_WEIGHTED_ROWS(result, v, first)
    }

    JOIN_HALVES(result)
    share_with_row(totals);
    barrier();
    precise vec4 in_order = shared_by(0u);
    for (uint column = 1u; column < 16u; ++column) in_order += shared_by(column);
    totals = in_order;
    const uvec2 y_to = record.y.address;
    Floats lse_to = Floats(record.lse.address);
    const uvec3 y_stride = UVEC3(record.y_strides);
    EACH_ROW(FINISH_ROW)
}
