// What makes the gradient of each plane from its group's sums: dx = dy * a + (x - mean) * b + c.
//
//   operands  totals [planes] of vec4 (sums of dy and dy * (x - mean)), mean [groups], variance [groups],
//             weight [C], coefficients [planes] of vec4 (mean, a, b, c)
//   floats    weight: where it is one number; eps
//   ints      planes, C, channels of a group, elements of a group
//   constant  0: whether weight is in memory
//   groups    ceil(planes / 64)
#version 460
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 5
#define FLOATS 2
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/vocabulary.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint IN_MEMORY = 0;

void main()
{
    const uint planes = record.n[0], channels = record.n[1], members = record.n[2];
    const float n = float(record.n[3]), one_weight = record.f[0], eps = record.f[1];
    Vec4s totals = Vec4s(record.operand[0].address), coefficients = Vec4s(record.operand[4].address);
    Floats means = Floats(record.operand[1].address), variances = Floats(record.operand[2].address),
           weights = Floats(record.operand[3].address);
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
