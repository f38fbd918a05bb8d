// variants: batch_norm_vjp_finish: ; batch_norm_vjp_finish_texel: -DTEXELS
// Computes the gradients by weight and bias, and the coefficients of dx = dy * a + (x - mean) * b + c.
//
//   partials  [partial_count][channels] of vec4 (batch_norm_vjp_sums)
//   mean, variance, weight, dweight, dbias  [channels]
//   coefficients  [channels] of vec4 (mean, a, b, c)
//   one_weight    used if weight is a single number, not in memory
//   count     elements per channel
//   constant  0: whether weight is in memory
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
#include "common/vocabulary.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint IN_MEMORY = 0;

RECORD(batch_norm_vjp_finish)
INPUT(partials) INPUT(mean) INPUT(variance) INPUT(weight) OUTPUT(coefficients) OUTPUT(dweight) OUTPUT(dbias)
FLOAT(one_weight) FLOAT(eps)
INT(channels) INT(partial_count) INT(count)
END_RECORD

const uint FAN = 32u; // partials that are summed before their sum is added to the total

void main()
{
    const uint channels = record.channels, partials = record.partial_count;
    const Operand partials_from = record.partials;
    const float n = float(record.count), eps = record.eps;
    const uint c = flat_group() * 64u + gl_LocalInvocationID.x;
    if (c >= channels)
        return;
    const float mean = Floats(record.mean.address).v[c];
    const float variance = Floats(record.variance.address).v[c];
    float weight = record.one_weight;
    if (IN_MEMORY != 0u)
        weight = Floats(record.weight.address).v[c];

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
    Vec4s(record.coefficients.address).v[c] = vec4(mean, a, b, shift);
    Floats(record.dweight.address).v[c] = dweight;
    Floats(record.dbias.address).v[c] = total.x;
}
