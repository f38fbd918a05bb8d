// variants: batch_norm_vjp_finish: ; batch_norm_vjp_finish_texel: -DTEXELS
// The gradients by weight and bias, and what makes the gradient by x: dx = dy * a + (x - mean) * b + c.
//
//   operands  partials [P][C] of vec4 (batch_norm_vjp_sums), mean [C], variance [C], weight [C],
//             coefficients [C] of vec4 (mean, a, b, c), dweight [C], dbias [C]
//   floats    weight: where it is one number; eps
//   ints      C, P, n (elements of a channel)
//   constant  0: whether weight is in memory
//   groups    ceil(C / 64)
//   texel     partials in the slab
#version 460
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 7
#define FLOATS 2
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

const uint FAN = 32u; // partials that are added before their sum is

void main()
{
    const uint channels = record.n[0], partials = record.n[1];
    const Operand partials_from = record.operand[0];
    const float n = float(record.n[2]), eps = record.f[1];
    const uint c = flat_group() * 64u + gl_LocalInvocationID.x;
    if (c >= channels)
        return;
    const float mean = Floats(record.operand[1].address).v[c];
    const float variance = Floats(record.operand[2].address).v[c];
    float weight = record.f[0];
    if (IN_MEMORY != 0u)
        weight = Floats(record.operand[3].address).v[c];

    precise vec4 total = vec4(0.0);
    for (uint first = 0u; first < partials; first += FAN) {
        precise vec4 sum = vec4(0.0);
        const uint end = min(first + FAN, partials);
        for (uint p = first; p < end; ++p)
            sum += PARTIAL(p * channels + c);
        total += sum;
    }
    precise float inverse = rp_rsqrt(variance + eps);
    precise float a = weight * inverse;
    precise float b = -a * (inverse * inverse * (total.y / n));
    precise float shift = -a * (total.x / n);
    precise float dweight = total.y * inverse;
    Vec4s(record.operand[4].address).v[c] = vec4(mean, a, b, shift);
    Floats(record.operand[5].address).v[c] = dweight;
    Floats(record.operand[6].address).v[c] = total.x;
}
