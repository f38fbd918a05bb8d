#version 460
// dx = dy - exp(y) * sum(dy) along a row; for softmax dx = (dy - sum(dy * y)) * y.
//
//   the record is that of common/rows.glsl
//   constants  1 to 3: dtypes of dy, y and dx, with DTYPES
// variants: log_softmax_vjp: ; log_softmax_vjp_texel: -DTEXELS
// variants: log_softmax_vjp_group: -DGROUP ; log_softmax_vjp_group_vec4: -DGROUP -DVEC4
// variants: softmax_vjp: -DSOFTMAX ; softmax_vjp_texel: -DSOFTMAX -DTEXELS
// variants: softmax_vjp_group: -DSOFTMAX -DGROUP ; softmax_vjp_group_vec4: -DSOFTMAX -DGROUP -DVEC4
// variants: log_softmax_vjp_group_vec4_dtypes: -DGROUP -DVEC4 -DDTYPES
// variants: softmax_vjp_group_vec4_dtypes: -DSOFTMAX -DGROUP -DVEC4 -DDTYPES
// not on CUDA: log_softmax_vjp, softmax_vjp
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"

#ifdef CHAIN
#define RESULT dx
#endif
RECORD(log_softmax_vjp)
INPUT(dy) INPUT(y) OUTPUT(dx) CHAIN_OPERANDS
INT(columns) INT(rows) INT(lane_bits) INT(dy_along) INT(y_along) INT(dx_along)
LIST(sizes) LIST(dy_strides) LIST(y_strides) LIST(dx_strides)
END_RECORD

#include "common/rows.glsl"
#include "common/row_dtypes.glsl"

#ifdef DTYPES
layout(constant_id = 1) const uint DY = 0;
layout(constant_id = 2) const uint Y = 0;
layout(constant_id = 3) const uint DX = 0;
#endif

void main()
{
    uint n;
    uint c[MAX_RANK];
    const bool exists = place(n, c);
    const Row dy = row_of(record.dy, record.dy_along, 0u, c);
    const Row y = row_of(record.y, record.y_along, 1u, c);
    const Row dx = row_of(record.dx, record.dx_along, 2u, c);
    END_UNLESS(exists, n)

    precise float total = 0.0;
    EACH_BLOCK(n) {
        precise vec4 sum = vec4(0.0);
        const uint end = min(block + BLOCK, n);
#ifdef SOFTMAX
#define TERM(at) load4_as(dy, at, n, DY) * load4_as(y, at, n, Y)
#else
#define TERM(at) load4_as(dy, at, n, DY)
#endif
#define ADD(k)                                                                                               \
    if (e + k < end) {                                                                                       \
        precise vec4 term = TERM(e + k);                                                                     \
        sum += inside(term, e + k, n);                                                                       \
    }
        for (uint e = block + FIRST; e < end; e += STEP) {
            EACH_4_OF_STEP(ADD)
        }
        total += sum_of_row(sum);
    }

#ifdef SOFTMAX
#define VALUE (g - total) * v
#else
#define VALUE g - exponential(v) * total
#endif
#define WRITE(k)                                                                                             \
    if (e + k < n) {                                                                                         \
        const vec4 g = load4_as(dy, e + k, n, DY), v = load4_as(y, e + k, n, Y);                             \
        precise vec4 result = VALUE;                                                                         \
        store4_result_as(dx, e + k, n, DX, result);                                                          \
    }
    for (uint e = FIRST; e < n; e += STEP) {
        EACH_4_OF_STEP(WRITE)
    }
}
