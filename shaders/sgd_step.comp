#version 460
//   g  = grad + weight_decay * param
//   b' = momentum * b + share * g
//   param' = param - lr * (NESTEROV: g + momentum * b', else b'; without momentum g)
//
//   operands   param, grad, b, lr, momentum, share, weight_decay, skip, param', b', low, low'
//   floats     lr, momentum, share, weight_decay, skip
//   ints       as common/step.glsl says
// variants: sgd_step: ; sgd_step_texel: -DTEXELS ; sgd_step_f64: -DDOUBLE
#define OPERANDS 12
#define FLOATS 5
#define NUMBERS_AT 3
#define ADDRESS_OF_RECORD // SwiftShader does not cast a pointer into another
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/step.glsl"
#include "common/step_results.glsl"

layout(constant_id = 8) const uint MOMENTUM = 0;
layout(constant_id = 9) const uint NESTEROV = 0;
layout(constant_id = 10) const uint MAXIMIZE = 0;

void main()
{
    const Part part = find_part();
    const REAL lr = number(part, 0u), momentum = number(part, 1u), share = number(part, 2u);
    const REAL weight_decay = number(part, 3u);
    const bool skip = skips(part);
    const Operand param = operand(part, 0u), grad = operand(part, 1u), velocity = operand(part, 2u);
    const Operand new_param = operand(part, 8u), new_velocity = operand(part, 9u);
    for (uint round = 0u; round < ROUNDS; ++round) {
        if (is_past(part, round))
            break;
        const REAL4 p = load_param(part, param, round);
        precise REAL4 g = load_round(part, grad, round, GRAD);
        g = MAXIMIZE != 0u ? -g : g;
        precise REAL4 decayed = g + weight_decay * p;
        g = weight_decay != 0.0 ? decayed : g;
        precise REAL4 direction = g;
        if (MOMENTUM != 0u) {
            const REAL4 before = load_moment(part, velocity, round, 1u);
            precise REAL4 b = momentum * before + share * g;
            store_moment(part, velocity, new_velocity, round, 1u, skip, before, b);
            direction = b;
            if (NESTEROV != 0u)
                direction = g + momentum * b;
        }
        precise REAL4 result = p - lr * direction;
        store_param(part, param, new_param, round, skip, p, result);
    }
}
