// Computes the coefficients that normalise each plane from its group's statistics and its channel's weight and bias.
//
//   statistics    [groups] of vec4 (mean, 1 / sqrt(variance + eps), 0, 0)
//   weight, bias  [channels]; one_weight, one_bias: used if they are single numbers, not in memory
//   affine    [planes] of vec4 (mean, scale, bias, 0)
//   members   channels per group
//   constant  0: bit 0: weight is in memory, bit 1: bias is
//   groups    ceil(planes / 64)
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint IN_MEMORY = 0;

RECORD(group_norm_affine)
INPUT(statistics) INPUT(weight) INPUT(bias) OUTPUT(affine)
FLOAT(one_weight) FLOAT(one_bias)
INT(planes) INT(channels) INT(members)
END_RECORD

void main()
{
    const uint planes = record.planes, channels = record.channels, members = record.members;
    Vec4s statistics = Vec4s(record.statistics.address), affine = Vec4s(record.affine.address);
    Floats weights = Floats(record.weight.address), biases = Floats(record.bias.address);
    float weight = record.one_weight, bias = record.one_bias;
    const uint plane = flat_group() * 64u + gl_LocalInvocationID.x;
    if (plane >= planes)
        return;
    const uint c = plane - quotient(plane, channels) * channels;
    if ((IN_MEMORY & 1u) != 0u)
        weight = weights.v[c];
    if ((IN_MEMORY & 2u) != 0u)
        bias = biases.v[c];
    const vec4 found = statistics.v[quotient(plane, members)];
    precise float scale = found.y * weight;
    affine.v[plane] = vec4(found.x, scale, bias, 0.0);
}
