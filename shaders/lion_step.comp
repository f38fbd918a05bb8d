#version 460
//   param' = param * kept - lr * sign(beta1 * m + share1 * grad)
//   m' = beta2 * m + share2 * grad
//
//   operands   param, grad, m, lr, beta1, share1, beta2, share2, kept, skip, param', m'
//   floats     lr, beta1, share1, beta2, share2, kept, skip
//   ints       first workgroup, count
// variants: lion_step: ; lion_step_texel: -DTEXELS ; lion_step_f64: -DDOUBLE
#define OPERANDS 12
#define FLOATS 7
#define NUMBERS_AT 3
#define ADDRESS_OF_RECORD // SwiftShader does not cast a pointer into another
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/step.glsl"

layout(constant_id = 2) const uint MAXIMIZE = 0;

void main()
{
    const Part part = find_part();
    const REAL lr = number(part, 0u), beta1 = number(part, 1u), share1 = number(part, 2u);
    const REAL beta2 = number(part, 3u), share2 = number(part, 4u), kept = number(part, 5u);
    const bool skip = number(part, 6u) != 0.0;
    const Operand param = operand(part, 0u), grad = operand(part, 1u), first = operand(part, 2u);
    const Operand new_param = operand(part, 10u), new_first = operand(part, 11u);
    for (uint round = 0u; round < ROUNDS; ++round) {
        const uint at = part.first + round * gl_WorkGroupSize.x;
        if (4u * at >= part.count)
            break;
        const REAL4 p = load(param, at), m = load(first, at);
        const REAL4 g = MAXIMIZE != 0u ? -load(grad, at) : load(grad, at);
        precise REAL4 u = beta1 * m + share1 * g;
        const REAL4 direction = REAL4(rp_sign(u.x), rp_sign(u.y), rp_sign(u.z), rp_sign(u.w));
        precise REAL4 result = p * kept - lr * direction;
        precise REAL4 next = beta2 * m + share2 * g;
        store(new_param, at, unless(skip, p, result));
        store(new_first, at, unless(skip, m, next));
    }
}
