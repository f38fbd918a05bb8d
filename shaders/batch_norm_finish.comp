// variants: batch_norm_finish: ; batch_norm_finish_texel: -DTEXELS
// Computes the statistics of each channel from its partials, and the coefficients that normalise with them.
//
//   partials  [partial_count][channels] of vec4 (batch_norm_sums)
//   weight, bias, mean, variance (biased)  [channels]
//   affine    [channels] of vec4 (mean, weight / sqrt(variance + eps), bias, 0)
//   one_weight, one_bias  used if weight or bias is a single number, not in memory
//   constant  0: bit 0: weight is in memory, bit 1: bias is
//   groups    ceil(channels / 64)
//   texel     partials in the slab
#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef TEXELS
#define SLAB
#define PARTIAL(at) texelFetch(slab, int(partials_from.texel + (at)))
#else
#define PARTIAL(at) Vec4s(partials_from.address).v[at]
#endif
#include "common/abi.glsl"
#include "common/statistics.glsl"
#include "common/vocabulary.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint IN_MEMORY = 0;

RECORD(batch_norm_finish)
INPUT(partials) INPUT(weight) INPUT(bias) OUTPUT(mean) OUTPUT(variance) OUTPUT(affine)
FLOAT(one_weight) FLOAT(one_bias) FLOAT(eps)
INT(channels) INT(partial_count)
END_RECORD

void main()
{
    const uint channels = record.channels, partials = record.partial_count;
    const Operand partials_from = record.partials;
    const float eps = record.eps;
    const uint c = flat_group() * 64u + gl_LocalInvocationID.x;
    if (c >= channels)
        return;
    float weight = record.one_weight, bias = record.one_bias;
    if ((IN_MEMORY & 1u) != 0u)
        weight = Floats(record.weight.address).v[c];
    if ((IN_MEMORY & 2u) != 0u)
        bias = Floats(record.bias.address).v[c];

    vec4 all = vec4(0.0);
    for (uint p = 0u; p < partials; ++p) all = merged(all, PARTIAL(p * channels + c));
    const float mean = all.x;
    precise float variance = all.y / max(all.z, 1.0); // 0 if there are no elements
    precise float scale = rp_div(weight, rp_sqrt(variance + eps));
    Floats(record.mean.address).v[c] = mean;
    Floats(record.variance.address).v[c] = variance;
    Vec4s(record.affine.address).v[c] = vec4(mean, scale, bias, 0.0);
}
