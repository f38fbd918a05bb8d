// variants: batch_norm_finish: ; batch_norm_finish_texel: -DTEXELS
// The statistics of each channel from its partials, and what normalises with them.
//
//   operands  partials [P][C] of vec4 (batch_norm_sums), weight [C], bias [C], mean [C], variance [C]
//             (biased), affine [C] of vec4 (mean, weight / sqrt(variance + eps), bias, 0)
//   floats    weight, bias: where they are one number; eps
//   ints      C, P
//   constant  0: bit 0: weight is in memory, bit 1: bias is
//   groups    ceil(C / 64)
//   texel     partials in the slab
#version 460
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 6
#define FLOATS 3
#ifdef TEXELS
#define SLAB
#define PARTIAL(at) texelFetch(slab, int(partials_from.texel + (at)))
#else
#define PARTIAL(at) Vec4s(partials_from.address).v[at]
#endif
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint IN_MEMORY = 0;

void main()
{
    const uint channels = record.n[0], partials = record.n[1];
    const Operand partials_from = record.operand[0];
    const float eps = record.f[2];
    const uint c = flat_group() * 64u + gl_LocalInvocationID.x;
    if (c >= channels)
        return;
    float weight = record.f[0], bias = record.f[1];
    if ((IN_MEMORY & 1u) != 0u)
        weight = Floats(record.operand[1].address).v[c];
    if ((IN_MEMORY & 2u) != 0u)
        bias = Floats(record.operand[2].address).v[c];

    precise float mean = 0.0, squares = 0.0, count = 0.0;
    for (uint p = 0u; p < partials; ++p) {
        const vec4 partial = PARTIAL(p * channels + c);
        precise float total = count + partial.z, delta = partial.x - mean, part = partial.z / total;
        mean += delta * part;
        squares += partial.y + delta * delta * (count * part);
        count = total;
    }
    precise float variance = squares / max(count, 1.0); // of nothing: 0
    precise float scale = weight / rp_sqrt(variance + eps);
    Floats(record.operand[3].address).v[c] = mean;
    Floats(record.operand[4].address).v[c] = variance;
    Vec4s(record.operand[5].address).v[c] = vec4(mean, scale, bias, 0.0);
}
