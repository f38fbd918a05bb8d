// Of each plane: the sums of dy and dy * (x - mean), and what they add to the gradients of weight and bias.
//
//   operands  partials [P][planes] of vec4 (batch_norm_vjp_sums), variance [groups], totals [planes] of vec4,
//             dweight [planes], dbias [planes]
//   floats    eps
//   ints      planes, P, channels of a group
//   groups    ceil(planes / 64)
#version 460
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 5
#define FLOATS 1
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/vocabulary.glsl"
layout(local_size_x = 64) in;

const uint FAN = 32u; // partials that are added before their sum is

void main()
{
    const uint planes = record.n[0], partials = record.n[1], members = record.n[2];
    const float eps = record.f[0];
    Vec4s from = Vec4s(record.operand[0].address), totals = Vec4s(record.operand[2].address);
    Floats variances = Floats(record.operand[1].address), weight = Floats(record.operand[3].address),
           bias = Floats(record.operand[4].address);
    const uint plane = flat_group() * 64u + gl_LocalInvocationID.x;
    if (plane >= planes)
        return;
    precise vec4 total = vec4(0.0);
    for (uint first = 0u; first < partials; first += FAN) {
        precise vec4 sum = vec4(0.0);
        const uint end = min(first + FAN, partials);
        for (uint p = first; p < end; ++p)
            sum += from.v[p * planes + plane];
        total += sum;
    }
    precise float variance = variances.v[quotient(plane, members)] + eps;
    precise float dweight = total.y * rp_rsqrt(variance);
    totals.v[plane] = total;
    weight.v[plane] = dweight;
    bias.v[plane] = total.x;
}
