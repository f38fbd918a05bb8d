#version 460
// y = exp(scale x - max) / sum along a row, over its unmasked elements: the first `keys`, with CAUSAL only up to the
// diagonal of the row's matrix. The others become zero.
//
//   queries, keys  one int each: rows of a matrix, and elements of a row that are not padding
//   the rest   common/rows.glsl with KEPT = 1
//   constants  1: CAUSAL
// variants: attention_softmax: ; attention_softmax_texel: -DTEXELS
// variants: attention_softmax_group_vec4: -DGROUP -DVEC4
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"

RECORD(attention_softmax)
INPUT(x) OUTPUT(y)
FLOAT(scale)
INT(columns) INT(rows) INT(lane_bits) INT(x_along) INT(y_along)
LIST(sizes) LIST(x_strides) LIST(y_strides)
LIST(queries) LIST(keys)
END_RECORD

#include "common/rows.glsl"

layout(constant_id = 1) const uint CAUSAL = 0;

void main()
{
    const float scale = record.scale;
    const uint queries = uint(record.lists[3]), length = uint(record.lists[4]);
    uint n;
    uint c[MAX_RANK];
    const bool exists = place(n, c);
    const Row x = row_of(record.x, record.x_along, 0u, c), y = row_of(record.y, record.y_along, 1u, c);
    END_UNLESS(exists, n)
    const uint diagonal = c[0] - quotient(c[0], queries) * queries;
    uint count = CAUSAL != 0u ? min(length, diagonal + 1u) : length;
    END_UNLESS(exists, count)

    vec4 m = vec4(-rp_inf());
    for (uint e = FIRST; e < count; e += NEXT) {
        precise vec4 t = load4(x, e, n) * scale;
        t = first(t, e, count, -rp_inf());
        m = vec4(rp_max(m.x, t.x), rp_max(m.y, t.y), rp_max(m.z, t.z), rp_max(m.w, t.w));
    }
    const float largest = largest_of_row(m);

    precise float total = 0.0;
    EACH_BLOCK(count) {
        precise vec4 sum = vec4(0.0);
        const uint end = min(block + BLOCK, count);
        for (uint e = block + FIRST; e < end; e += NEXT) {
            precise vec4 shifted = load4(x, e, n) * scale - largest;
            sum += first(exponential(shifted), e, count, 0.0);
        }
        total += sum_of_row(sum);
    }

    uint e = FIRST;
    for (; e < count; e += NEXT) {
        precise vec4 shifted = load4(x, e, n) * scale - largest;
        precise vec4 result = exponential(shifted) / total;
        store4(y, e, n, first(result, e, count, 0.0));
    }
    for (; e < n; e += NEXT) store4(y, e, n, vec4(0.0));
}
