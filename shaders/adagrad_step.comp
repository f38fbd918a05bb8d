#version 460
//   g  = grad + weight_decay * param
//   s' = s + g * g
//   param' = param - lr * g / (sqrt(s') + eps)
//
//   operands   param, grad, s, lr, eps, weight_decay, skip, param', s', low, low'
//   floats     lr, eps, weight_decay, skip
//   ints       as common/step.glsl says
// variants: adagrad_step: ; adagrad_step_texel: -DTEXELS ; adagrad_step_f64: -DDOUBLE
#define OPERANDS 11
#define FLOATS 4
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
    const REAL lr = number(part, 0u), eps = number(part, 1u), weight_decay = number(part, 2u);
    const bool skip = skips(part);
    const Operand param = operand(part, 0u), grad = operand(part, 1u), square = operand(part, 2u);
    const Operand new_param = operand(part, 7u), new_square = operand(part, 8u);
    for (uint round = 0u; round < ROUNDS; ++round) {
        if (is_past(part, round))
            break;
        const REAL4 p = load_param(part, param, round);
        precise REAL4 g = load_round(part, grad, round, GRAD);
        g = MAXIMIZE != 0u ? -g : g;
        precise REAL4 decayed = g + weight_decay * p;
        g = weight_decay != 0.0 ? decayed : g;
        const REAL4 before = load_moment(part, square, round, 1u);
        precise REAL4 s = before + g * g;
        store_moment(part, square, new_square, round, 1u, skip, before, s);
        const REAL4 deviation = REAL4(rp_sqrt(s.x), rp_sqrt(s.y), rp_sqrt(s.z), rp_sqrt(s.w));
        precise REAL4 result = p - lr * g / (deviation + eps);
        store_param(part, param, new_param, round, skip, p, result);
    }
}
