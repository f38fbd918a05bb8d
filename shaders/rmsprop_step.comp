#version 460
//   g  = grad + weight_decay * param
//   s' = alpha * s + share * g * g
//   a' = a + share * (g - a)             CENTERED; computed from g if share >= 0.5, as lerp does
//   d  = sqrt(s' - a' * a') + eps         not CENTERED: sqrt(s') + eps
//   b' = momentum * b + g / d            MOMENTUM
//   param' = param - lr * b'             without momentum lr * g / d
//
//   operands   param, grad, s, a, b, lr, alpha, share, eps, momentum, weight_decay, skip, param', s', a', b', low, low'
//   floats     lr, alpha, share, eps, momentum, weight_decay, skip
//   ints       as common/step.glsl says
// variants: rmsprop_step: ; rmsprop_step_texel: -DTEXELS ; rmsprop_step_f64: -DDOUBLE
#define OPERANDS 18
#define FLOATS 7
#define NUMBERS_AT 5
#define ADDRESS_OF_RECORD // SwiftShader does not cast a pointer into another
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/step.glsl"
#include "common/step_results.glsl"

layout(constant_id = 8) const uint CENTERED = 0;
layout(constant_id = 9) const uint MOMENTUM = 0;
layout(constant_id = 10) const uint MAXIMIZE = 0;

void main()
{
    const Part part = find_part();
    const REAL lr = number(part, 0u), alpha = number(part, 1u), share = number(part, 2u);
    const REAL eps = number(part, 3u), momentum = number(part, 4u), weight_decay = number(part, 5u);
    const bool skip = skips(part);
    const Operand param = operand(part, 0u), grad = operand(part, 1u), square = operand(part, 2u);
    const Operand average = operand(part, 3u), change = operand(part, 4u), new_param = operand(part, 12u);
    const Operand new_square = operand(part, 13u), new_average = operand(part, 14u);
    const Operand new_change = operand(part, 15u);
    for (uint round = 0u; round < ROUNDS; ++round) {
        if (is_past(part, round))
            break;
        const REAL4 p = load_param(part, param, round);
        precise REAL4 g = load_round(part, grad, round, GRAD);
        g = MAXIMIZE != 0u ? -g : g;
        precise REAL4 decayed = g + weight_decay * p;
        g = weight_decay != 0.0 ? decayed : g;
        const REAL4 s_before = load_moment(part, square, round, 1u);
        precise REAL4 s = alpha * s_before + share * g * g;
        store_moment(part, square, new_square, round, 1u, skip, s_before, s);
        precise REAL4 variance = s;
        if (CENTERED != 0u) {
            const REAL4 a_before = load_moment(part, average, round, 2u);
            precise REAL4 towards = a_before + share * (g - a_before);
            precise REAL4 back = g - (g - a_before) * (1.0 - share);
            const REAL4 a = share < 0.5 ? towards : back;
            store_moment(part, average, new_average, round, 2u, skip, a_before, a);
            variance = s - a * a;
        }
        const REAL4 deviation =
            REAL4(rp_sqrt(variance.x), rp_sqrt(variance.y), rp_sqrt(variance.z), rp_sqrt(variance.w));
        precise REAL4 d = deviation + eps;
        precise REAL4 result = p - lr * g / d;
        if (MOMENTUM != 0u) {
            const uint last = CENTERED != 0u ? 3u : 2u;
            const REAL4 b_before = load_moment(part, change, round, last);
            precise REAL4 b = momentum * b_before + g / d;
            store_moment(part, change, new_change, round, last, skip, b_before, b);
            result = p - lr * b;
        }
        store_param(part, param, new_param, round, skip, p, result);
    }
}
