#version 460
// y = exp(s - max) / sum along a row of scores s = scale x + mask, over its unmasked elements: the first `keys`, with
// CAUSAL only up to the diagonal of the row's matrix.  The others become zero, and so does a row whose scores are all
// masked, by -infinity.
//
//   queries, keys  one int each: rows of a matrix, and elements of a row that are not padding
//   the rest   common/rows.glsl;  with CAUSAL KEPT = 1
//   constants  1: CAUSAL;  2: MASK
// variants: attention_softmax: ; attention_softmax_texel: -DTEXELS
// variants: attention_softmax_group_vec4: -DGROUP -DVEC4
// not on CUDA: attention_softmax
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"

RECORD(attention_softmax)
INPUT(x) INPUT(mask) OUTPUT(y)
FLOAT(scale)
INT(columns) INT(rows) INT(lane_bits) INT(x_along) INT(mask_along) INT(y_along)
LIST(sizes) LIST(x_strides) LIST(mask_strides) LIST(y_strides)
LIST(queries) LIST(keys)
END_RECORD

#include "common/rows.glsl"

layout(constant_id = 1) const uint CAUSAL = 0;
layout(constant_id = 2) const uint MASK = 0; // 1: truth (i32), 2: numbers, which are added

// Returns scores e to e + 3 of a row; n is the number of columns of x, `keys` that of the mask.
precise vec4 scores(Row x, Row mask, uint e, uint n, uint keys, float scale)
{
    precise vec4 score = load4(x, e, n) * scale;
    if (MASK == 1u) {
        score = mix(vec4(-rp_inf()), score, notEqual(floatBitsToInt(load4(mask, e, keys)), ivec4(0)));
    } else if (MASK == 2u) {
        score += load4(mask, e, keys);
    }
    return score;
}

void main()
{
    const float scale = record.scale;
    const uint behind = 4u * KEPT, queries = uint(record.lists[behind]), keys = uint(record.lists[behind + 1u]);
    uint n;
    uint c[MAX_RANK];
    const bool exists = place(n, c);
    const Row x = row_of(record.x, record.x_along, 0u, c), mask = row_of(record.mask, record.mask_along, 1u, c);
    const Row y = row_of(record.y, record.y_along, 2u, c);
    END_UNLESS(exists, n)
    const uint diagonal = c[0] - quotient(c[0], queries) * queries; // with CAUSAL, c[0] is the number of the row
    uint count = CAUSAL != 0u ? min(keys, diagonal + 1u) : keys;
    END_UNLESS(exists, count)

    vec4 m = vec4(-rp_inf());
    for (uint e = FIRST; e < count; e += NEXT) {
        const vec4 s = first(scores(x, mask, e, n, keys, scale), e, count, -rp_inf());
        m = vec4(rp_max(m.x, s.x), rp_max(m.y, s.y), rp_max(m.z, s.z), rp_max(m.w, s.w));
    }
    const float largest = largest_of_row(m), shift = MASK != 0u && largest == -rp_inf() ? 0.0 : largest;

    precise float total = 0.0;
    EACH_BLOCK(count) {
        precise vec4 sum = vec4(0.0);
        const uint end = min(block + BLOCK, count);
        for (uint e = block + FIRST; e < end; e += NEXT) {
            precise vec4 shifted = scores(x, mask, e, n, keys, scale) - shift;
            sum += first(exponential(shifted), e, count, 0.0);
        }
        total += sum_of_row(sum);
    }

    const bool hidden = MASK != 0u && rp_is_zero(total);
    uint e = FIRST;
    for (; e < count; e += NEXT) {
        precise vec4 shifted = scores(x, mask, e, n, keys, scale) - shift;
        precise vec4 result = exponential(shifted) / total;
        store4(y, e, n, hidden ? vec4(0.0) : first(result, e, count, 0.0));
    }
    for (; e < n; e += NEXT) store4(y, e, n, vec4(0.0));
}
