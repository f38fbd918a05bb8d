#version 460
// y = (x - mean) * rstd * weight + bias along a row, rstd = 1 / sqrt(variance + eps); the variance is the mean
// of (x - mean)^2, which avoids cancellation. If not CENTERED, the mean is 0.
//
//   weight, bias  one row each, repeated; mean, rstd: one element per row
//   the rest   common/rows.glsl with KEPT = 1
//   constants  1, 2: whether there are a weight and a bias; 3: CENTERED; 4 to 6: dtypes of x, y and its copy, with
//              DTYPES
// variants: layer_norm: ; layer_norm_texel: -DTEXELS
// variants: layer_norm_group: -DGROUP ; layer_norm_group_vec4: -DGROUP -DVEC4
// variants: layer_norm_group_vec4_dtypes: -DGROUP -DVEC4 -DDTYPES
// not on CUDA: layer_norm
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"

#ifdef CHAIN
#define RESULT y
#endif
RECORD(layer_norm)
INPUT(x) INPUT(weight) INPUT(bias) OUTPUT(y) OUTPUT(mean) OUTPUT(rstd) OUTPUT(copy) CHAIN_OPERANDS
FLOAT(eps)
INT(columns) INT(rows) INT(lane_bits) INT(x_along) INT(weight_along) INT(bias_along) INT(y_along) INT(mean_along) INT(rstd_along)
LIST(sizes) LIST(x_strides) LIST(weight_strides) LIST(bias_strides)
LIST(y_strides) LIST(mean_strides) LIST(rstd_strides)
END_RECORD

#include "common/rows.glsl"
#include "common/row_dtypes.glsl"

layout(constant_id = 1) const uint WEIGHT = 0;
layout(constant_id = 2) const uint BIAS = 0;
layout(constant_id = 3) const uint CENTERED = 1;
#ifdef DTYPES
layout(constant_id = 4) const uint X = 0;
layout(constant_id = 5) const uint Y = 0;
layout(constant_id = 6) const uint COPY = 0;
#endif

void main()
{
    const float eps = record.eps;
    uint n;
    uint c[MAX_RANK];
    const bool exists = place(n, c);
    const Row x = row_of(record.x, record.x_along, 0u, c);
    const Row weight = row_of(record.weight, record.weight_along, 1u, c);
    const Row bias = row_of(record.bias, record.bias_along, 2u, c);
    const Row y = row_of(record.y, record.y_along, 3u, c);
    Floats means = Floats(record.mean.address), rstds = Floats(record.rstd.address);
#ifdef DTYPES
    const Operand copy = record.copy;
#endif
    END_UNLESS(exists, n)

    precise float total = 0.0;
    const uint to_average = CENTERED != 0u ? n : 0u;
    EACH_BLOCK(to_average) {
        precise vec4 sum = vec4(0.0);
        const uint end = min(block + BLOCK, to_average);
        for (uint e = block + FIRST; e < end; e += NEXT) sum += inside(load4_as(x, e, n, X), e, n);
        total += sum_of_row(sum);
    }
    precise float mean = total / float(n);

    total = 0.0;
    EACH_BLOCK(n) {
        precise vec4 sum = vec4(0.0);
        const uint end = min(block + BLOCK, n);
        for (uint e = block + FIRST; e < end; e += NEXT) {
            precise vec4 shifted = load4_as(x, e, n, X) - mean;
            sum += inside(shifted * shifted, e, n);
        }
        total += sum_of_row(sum);
    }
    precise float variance = total / float(n) + eps;
    const float rstd = rp_rsqrt(variance);

    for (uint e = FIRST; e < n; e += NEXT) {
        precise vec4 result = (load4_as(x, e, n, X) - mean) * rstd;
        if (WEIGHT != 0u)
            result *= load4(weight, e, n);
        if (BIAS != 0u)
            result += load4(bias, e, n);
        store4_result_as(y, e, n, Y, result);
        copy4_as(copy, y, e, COPY, result);
    }
    if (exists && lane == 0u) {
        means.v[c[0]] = mean;
        rstds.v[c[0]] = rstd;
    }
}
