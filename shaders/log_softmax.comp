#version 460
// y = (x - max) - log(sum of exp(x - max)) along a row, or y = exp(x - max) / sum.
//
//   the record is that of common/rows.glsl
//   constants  1, 2: dtypes of x and y, with DTYPES
// variants: log_softmax: ; log_softmax_texel: -DTEXELS
// variants: log_softmax_group: -DGROUP ; log_softmax_group_vec4: -DGROUP -DVEC4
// variants: softmax: -DSOFTMAX ; softmax_texel: -DSOFTMAX -DTEXELS
// variants: softmax_group: -DSOFTMAX -DGROUP ; softmax_group_vec4: -DSOFTMAX -DGROUP -DVEC4
// variants: log_softmax_group_vec4_dtypes: -DGROUP -DVEC4 -DDTYPES
// variants: softmax_group_vec4_dtypes: -DSOFTMAX -DGROUP -DVEC4 -DDTYPES
// not on CUDA: log_softmax, softmax
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"

#ifdef CHAIN
#define RESULT y
#endif
RECORD(log_softmax)
INPUT(x) OUTPUT(y) CHAIN_OPERANDS
INT(columns) INT(rows) INT(lane_bits) INT(x_along) INT(y_along)
LIST(sizes) LIST(x_strides) LIST(y_strides)
END_RECORD

#include "common/rows.glsl"
#include "common/row_dtypes.glsl"

#ifdef DTYPES
layout(constant_id = 1) const uint X = 0;
layout(constant_id = 2) const uint Y = 0;
#endif

void main()
{
    uint n;
    uint c[MAX_RANK];
    const bool exists = place(n, c);
    const Row x = row_of(record.x, record.x_along, 0u, c), y = row_of(record.y, record.y_along, 1u, c);
    END_UNLESS(exists, n)

    vec4 m = vec4(-rp_inf());
#define TAKE_LARGEST(k)                                                                                      \
    if (e + k < n) {                                                                                         \
        const vec4 t = load4_as(x, e + k, n, X);                                                             \
        m = vec4(rp_max(m.x, t.x), rp_max(m.y, t.y), rp_max(m.z, t.z), rp_max(m.w, t.w));                    \
    }
    for (uint e = FIRST; e < n; e += STEP) {
        EACH_4_OF_STEP(TAKE_LARGEST)
    }
    const float largest = largest_of_row(m);

    precise float total = 0.0;
    EACH_BLOCK(n) {
        precise vec4 sum = vec4(0.0);
        const uint end = min(block + BLOCK, n);
#define ADD(k)                                                                                               \
    if (e + k < end) {                                                                                       \
        precise vec4 shifted = load4_as(x, e + k, n, X) - largest;                                           \
        sum += inside(exponential(shifted), e + k, n);                                                       \
    }
        for (uint e = block + FIRST; e < end; e += STEP) {
            EACH_4_OF_STEP(ADD)
        }
        total += sum_of_row(sum);
    }

#ifndef SOFTMAX
    const float log_total = rp_log(total);
#endif
#ifdef SOFTMAX
#define VALUE exponential(shifted) / total
#else
#define VALUE shifted - log_total
#endif
#define WRITE(k)                                                                                             \
    if (e + k < n) {                                                                                         \
        precise vec4 shifted = load4_as(x, e + k, n, X) - largest;                                           \
        precise vec4 result = VALUE;                                                                         \
        store4_result_as(y, e + k, n, Y, result);                                                            \
    }
    for (uint e = FIRST; e < n; e += STEP) {
        EACH_4_OF_STEP(WRITE)
    }
}
