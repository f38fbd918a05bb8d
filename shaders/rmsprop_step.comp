#version 460
//   g  = grad + weight_decay * param
//   s' = alpha * s + share * g * g
//   a' = a + share * (g - a)             CENTERED; computed from g if share >= 0.5, as lerp does
//   d  = sqrt(s' - a' * a') + eps         not CENTERED: sqrt(s') + eps
//   b' = momentum * b + g / d            MOMENTUM
//   param' = param - lr * b'             without momentum lr * g / d
//
//   operands   param, grad, s, a, b, lr, alpha, share, eps, momentum, weight_decay, skip, param', s', a', b'
//   floats     lr, alpha, share, eps, momentum, weight_decay, skip
//   ints       first workgroup, count
// variants: rmsprop_step: ; rmsprop_step_texel: -DTEXELS ; rmsprop_step_f64: -DDOUBLE
#define OPERANDS 16
#define FLOATS 7
#define NUMBERS_AT 5
#define ADDRESS_OF_RECORD // SwiftShader does not cast a pointer into another
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/step.glsl"

layout(constant_id = 2) const uint CENTERED = 0;
layout(constant_id = 3) const uint MOMENTUM = 0;
layout(constant_id = 4) const uint MAXIMIZE = 0;

void main()
{
    const Part part = find_part();
    const REAL lr = number(part, 0u), alpha = number(part, 1u), share = number(part, 2u);
    const REAL eps = number(part, 3u), momentum = number(part, 4u), weight_decay = number(part, 5u);
    const bool skip = number(part, 6u) != 0.0;
    const Operand param = operand(part, 0u), grad = operand(part, 1u), square = operand(part, 2u);
    const Operand average = operand(part, 3u), change = operand(part, 4u), new_param = operand(part, 12u);
    const Operand new_square = operand(part, 13u), new_average = operand(part, 14u);
    const Operand new_change = operand(part, 15u);
    for (uint round = 0u; round < ROUNDS; ++round) {
        const uint at = part.first + round * gl_WorkGroupSize.x;
        if (4u * at >= part.count)
            break;
        const REAL4 p = load(param, at);
        precise REAL4 g = MAXIMIZE != 0u ? -load(grad, at) : load(grad, at);
        precise REAL4 decayed = g + weight_decay * p;
        g = weight_decay != 0.0 ? decayed : g;
        const REAL4 s_before = load(square, at);
        precise REAL4 s = alpha * s_before + share * g * g;
        store(new_square, at, unless(skip, s_before, s));
        precise REAL4 variance = s;
        if (CENTERED != 0u) {
            const REAL4 a_before = load(average, at);
            precise REAL4 towards = a_before + share * (g - a_before);
            precise REAL4 back = g - (g - a_before) * (1.0 - share);
            const REAL4 a = share < 0.5 ? towards : back;
            store(new_average, at, unless(skip, a_before, a));
            variance = s - a * a;
        }
        const REAL4 deviation =
            REAL4(rp_sqrt(variance.x), rp_sqrt(variance.y), rp_sqrt(variance.z), rp_sqrt(variance.w));
        precise REAL4 d = deviation + eps;
        precise REAL4 result = p - lr * g / d;
        if (MOMENTUM != 0u) {
            const REAL4 b_before = load(change, at);
            precise REAL4 b = momentum * b_before + g / d;
            store(new_change, at, unless(skip, b_before, b));
            result = p - lr * b;
        }
        store(new_param, at, unless(skip, p, result));
    }
}
