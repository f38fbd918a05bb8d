// What normalises each plane, from its group's statistics and its channel's weight and bias.
//
//   operands  statistics [groups] of vec4 (mean, 1 / sqrt(variance + eps), 0, 0), weight [C], bias [C],
//             affine [planes] of vec4 (mean, scale, bias, 0)
//   floats    weight, bias: where they are one number
//   ints      planes, C, channels of a group
//   constant  0: bit 0: weight is in memory, bit 1: bias is
//   groups    ceil(planes / 64)
#version 460
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 4
#define FLOATS 2
#include "common/abi.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint IN_MEMORY = 0;

void main()
{
    const uint planes = record.n[0], channels = record.n[1], members = record.n[2];
    Vec4s statistics = Vec4s(record.operand[0].address), affine = Vec4s(record.operand[3].address);
    Floats weights = Floats(record.operand[1].address), biases = Floats(record.operand[2].address);
    float weight = record.f[0], bias = record.f[1];
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
