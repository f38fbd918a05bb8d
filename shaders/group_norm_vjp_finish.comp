// Computes the coefficients of dx = dy * a + (x - mean) * b + c for each plane from the sums of its group.
//
//   totals    [planes] of vec4 (sums of dy and dy * (x - mean))
//   mean, variance  [groups]
//   weight    [channels]; one_weight: used if it is a single number, not in memory
//   coefficients  [planes] of vec4 (mean, a, b, c)
//   members, count  channels and elements per group
//   constant  0: whether weight is in memory
//   groups    ceil(planes / 64)
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/vocabulary.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint IN_MEMORY = 0;

RECORD(group_norm_vjp_finish)
INPUT(totals) INPUT(mean) INPUT(variance) INPUT(weight) OUTPUT(coefficients)
FLOAT(one_weight) FLOAT(eps)
INT(planes) INT(channels) INT(members) INT(count)
END_RECORD

void main()
{
    const uint planes = record.planes, channels = record.channels, members = record.members;
    const float n = float(record.count), one_weight = record.one_weight, eps = record.eps;
    Vec4s totals = Vec4s(record.totals.address), coefficients = Vec4s(record.coefficients.address);
    Floats means = Floats(record.mean.address), variances = Floats(record.variance.address),
           weights = Floats(record.weight.address);
    const uint plane = flat_group() * 64u + gl_LocalInvocationID.x;
    if (plane >= planes)
        return;
    const uint group = quotient(plane, members), first = group * members;
    const uint first_channel = first - quotient(first, channels) * channels;

    precise float sum = 0.0, product_sum = 0.0;
    for (uint k = 0u; k < members; ++k) {
        const vec4 total = totals.v[first + k];
        const float weight = IN_MEMORY != 0u ? weights.v[first_channel + k] : one_weight;
        precise float s = weight * total.x, p = weight * total.y;
        sum += s;
        product_sum += p;
    }
    const float own_weight = IN_MEMORY != 0u ? weights.v[first_channel + plane - first] : one_weight;
    precise float variance = variances.v[group] + eps;
    const float rstd = rp_rsqrt(variance);
    precise float a = own_weight * rstd;
    precise float b = -(rstd * rstd * rstd) * (product_sum / n);
    precise float c = -rstd * (sum / n);
    coefficients.v[plane] = vec4(means.v[group], a, b, c);
}
