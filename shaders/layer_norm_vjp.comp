#version 460
// dx = rstd * (g - mean(g) - z * mean(g * z)) along a row, with g = dy * weight and z = (x - mean) * rstd; if not
// CENTERED, without mean(g).
//
//   weight     one row, repeated; mean, rstd: one element per row
//   the rest   common/rows.glsl with KEPT = 1
//   constants  1: whether there is a weight; 2: CENTERED; 3 to 6: dtypes of dy, x, dx and its copy, with DTYPES
// variants: layer_norm_vjp: ; layer_norm_vjp_texel: -DTEXELS
// variants: layer_norm_vjp_group: -DGROUP ; layer_norm_vjp_group_vec4: -DGROUP -DVEC4
// variants: layer_norm_vjp_group_vec4_dtypes: -DGROUP -DVEC4 -DDTYPES
// not on CUDA: layer_norm_vjp
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"

#ifdef CHAIN
#define RESULT dx
#endif
RECORD(layer_norm_vjp)
INPUT(dy) INPUT(x) INPUT(weight) OUTPUT(dx) INPUT(mean) INPUT(rstd) OUTPUT(copy) CHAIN_OPERANDS
INT(columns) INT(rows) INT(lane_bits) INT(dy_along) INT(x_along) INT(weight_along) INT(dx_along) INT(mean_along) INT(rstd_along)
LIST(sizes) LIST(dy_strides) LIST(x_strides) LIST(weight_strides) LIST(dx_strides) LIST(mean_strides) LIST(rstd_strides)
END_RECORD

#include "common/rows.glsl"
#include "common/row_dtypes.glsl"

layout(constant_id = 1) const uint WEIGHT = 0;
layout(constant_id = 2) const uint CENTERED = 1;
#ifdef DTYPES
layout(constant_id = 3) const uint DY = 0;
layout(constant_id = 4) const uint X = 0;
layout(constant_id = 5) const uint DX = 0;
layout(constant_id = 6) const uint COPY = 0;
#endif

precise vec4 weighted(Row dy, Row weight, uint e, uint n)
{
    precise vec4 g = load4_as(dy, e, n, DY);
    if (WEIGHT != 0u)
        g *= load4(weight, e, n);
    return g;
}

void main()
{
    uint n;
    uint c[MAX_RANK];
    const bool exists = place(n, c);
    const Row dy = row_of(record.dy, record.dy_along, 0u, c);
    const Row x = row_of(record.x, record.x_along, 1u, c);
    const Row weight = row_of(record.weight, record.weight_along, 2u, c);
    const Row dx = row_of(record.dx, record.dx_along, 3u, c);
    Floats means = Floats(record.mean.address), rstds = Floats(record.rstd.address);
#ifdef DTYPES
    const Operand copy = record.copy;
#endif
    END_UNLESS(exists, n)
    const float mean = means.v[c[0]], rstd = rstds.v[c[0]];

    precise float total_g = 0.0, total_gz = 0.0;
    EACH_BLOCK(n) {
        precise vec4 sum_g = vec4(0.0), sum_gz = vec4(0.0);
        const uint end = min(block + BLOCK, n);
        for (uint e = block + FIRST; e < end; e += NEXT) {
            precise vec4 g = inside(weighted(dy, weight, e, n), e, n);
            precise vec4 z = (load4_as(x, e, n, X) - mean) * rstd;
            sum_g += g;
            sum_gz += g * z;
        }
        total_g += sum_of_row(sum_g);
        total_gz += sum_of_row(sum_gz);
    }
    precise float mean_g = CENTERED != 0u ? total_g / float(n) : 0.0, mean_gz = total_gz / float(n);

    for (uint e = FIRST; e < n; e += NEXT) {
        precise vec4 z = (load4_as(x, e, n, X) - mean) * rstd;
        precise vec4 result = ((weighted(dy, weight, e, n) - mean_g) - z * mean_gz) * rstd;
        store4_result_as(dx, e, n, DX, result);
        copy4_as(copy, dx, e, COPY, result);
    }
}
