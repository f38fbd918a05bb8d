// Computes for each plane the sums of dy and dy * (x - mean), and its terms of the gradients by weight and bias.
//
//   partials  [partial_count][planes] of vec4 (batch_norm_vjp_sums)
//   variance  [groups]
//   totals    [planes] of vec4
//   dweight, dbias  [planes]
//   members   channels per group
//   groups    ceil(planes / 64)
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/vocabulary.glsl"
layout(local_size_x = 64) in;

RECORD(group_norm_vjp_planes)
INPUT(partials) INPUT(variance) OUTPUT(totals) OUTPUT(dweight) OUTPUT(dbias)
FLOAT(eps)
INT(planes) INT(partial_count) INT(members)
END_RECORD

const uint FAN = 32u; // partials that are summed before their sum is added to the total

void main()
{
    const uint planes = record.planes, partials = record.partial_count, members = record.members;
    const float eps = record.eps;
    Vec4s from = Vec4s(record.partials.address), totals = Vec4s(record.totals.address);
    Floats variances = Floats(record.variance.address), weight = Floats(record.dweight.address),
           bias = Floats(record.dbias.address);
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
