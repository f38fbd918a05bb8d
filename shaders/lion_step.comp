#version 460
//   param' = param * kept - lr * sign(beta1 * m + share1 * grad)
//   m' = beta2 * m + share2 * grad
//
//   operands   param, grad, m, lr, beta1, share1, beta2, share2, kept, skip, param', m', low, low'
//   floats     lr, beta1, share1, beta2, share2, kept, skip
//   ints       as common/step.glsl says
// variants: lion_step: ; lion_step_texel: -DTEXELS ; lion_step_f64: -DDOUBLE
#define OPERANDS 14
#define FLOATS 7
#define NUMBERS_AT 3
#define ADDRESS_OF_RECORD // SwiftShader does not cast a pointer into another
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/step.glsl"
#include "common/step_results.glsl"

layout(constant_id = 8) const uint MAXIMIZE = 0;

void main()
{
    const Part part = find_part();
    const REAL lr = number(part, 0u), beta1 = number(part, 1u), share1 = number(part, 2u);
    const REAL beta2 = number(part, 3u), share2 = number(part, 4u), kept = number(part, 5u);
    const bool skip = skips(part);
    const Operand param = operand(part, 0u), grad = operand(part, 1u), first = operand(part, 2u);
    const Operand new_param = operand(part, 10u), new_first = operand(part, 11u);
    for (uint round = 0u; round < ROUNDS; ++round) {
        if (is_past(part, round))
            break;
        const REAL4 p = load_param(part, param, round);
        const REAL4 m = load_moment(part, first, round, 1u);
        precise REAL4 g = load_round(part, grad, round, GRAD);
        g = MAXIMIZE != 0u ? -g : g;
        precise REAL4 u = beta1 * m + share1 * g;
        const REAL4 direction = REAL4(rp_sign(u.x), rp_sign(u.y), rp_sign(u.z), rp_sign(u.w));
        precise REAL4 result = p * kept - lr * direction;
        precise REAL4 next = beta2 * m + share2 * g;
        store_param(part, param, new_param, round, skip, p, result);
        store_moment(part, first, new_first, round, 1u, skip, m, next);
    }
}
