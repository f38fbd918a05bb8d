#version 460
// dx = scale * (dy - sum(dy * y)) * y along a row, over its unmasked elements (attention_softmax.comp). The others
// become zero.
//
//   queries, keys  one int each: rows of a matrix, and elements of a row that are not padding
//   the rest   common/rows.glsl with KEPT = 1
//   constants  1: CAUSAL
// variants: attention_softmax_vjp: ; attention_softmax_vjp_texel: -DTEXELS
// variants: attention_softmax_vjp_group_vec4: -DGROUP -DVEC4
// not on CUDA: attention_softmax_vjp
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"

RECORD(attention_softmax_vjp)
INPUT(dy) INPUT(y) OUTPUT(dx)
FLOAT(scale)
INT(columns) INT(rows) INT(lane_bits) INT(dy_along) INT(y_along) INT(dx_along)
LIST(sizes) LIST(dy_strides) LIST(y_strides) LIST(dx_strides)
LIST(queries) LIST(keys)
END_RECORD

#include "common/rows.glsl"

layout(constant_id = 1) const uint CAUSAL = 0;

void main()
{
    const float scale = record.scale;
    const uint queries = uint(record.lists[4]), length = uint(record.lists[5]);
    uint n;
    uint c[MAX_RANK];
    const bool exists = place(n, c);
    const Row dy = row_of(record.dy, record.dy_along, 0u, c);
    const Row y = row_of(record.y, record.y_along, 1u, c);
    const Row dx = row_of(record.dx, record.dx_along, 2u, c);
    END_UNLESS(exists, n)
    const uint diagonal = c[0] - quotient(c[0], queries) * queries;
    uint count = CAUSAL != 0u ? min(length, diagonal + 1u) : length;
    END_UNLESS(exists, count)

    precise float total = 0.0;
    EACH_BLOCK(count) {
        precise vec4 sum = vec4(0.0);
        const uint end = min(block + BLOCK, count);
        for (uint e = block + FIRST; e < end; e += NEXT) {
            precise vec4 term = load4(dy, e, n) * load4(y, e, n);
            sum += first(term, e, count, 0.0);
        }
        total += sum_of_row(sum);
    }

    uint e = FIRST;
    for (; e < count; e += NEXT) {
        precise vec4 result = (load4(dy, e, n) - total) * load4(y, e, n) * scale;
        store4(dx, e, n, first(result, e, count, 0.0));
    }
    for (; e < n; e += NEXT) store4(dx, e, n, vec4(0.0));
}
