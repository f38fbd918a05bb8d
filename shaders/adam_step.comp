#version 460
//   g  = grad + weight_decay * param          DECAY 1
//   p  = param * (1 - lr * weight_decay)      DECAY 2: decoupled
//   m' = m + (1 - beta1) * (g - m)            from g where 1 - beta1 >= 0.5, as lerp has it
//   v' = beta2 * v + (1 - beta2) * g * g
//   param' = p - lr / correction1 * m' / (sqrt(v') / sqrt(correction2) + eps)
//
//   operands   param, grad, m, v, lr, correction1, correction2, param', m', v'
//   floats     lr, correction1, correction2, beta1, 1 - beta1, beta2, 1 - beta2, eps, weight_decay
//   ints       first workgroup, count
// variants: adam_step: ; adam_step_texel: -DTEXELS
#define OPERANDS 10
#define FLOATS 9
#define NUMBERS_AT 4
#define ADDRESS_OF_RECORD // SwiftShader does not cast a pointer into another
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/step.glsl"

layout(constant_id = 2) const uint DECAY = 0;
layout(constant_id = 3) const uint FROM_GRADIENT = 0;

void main()
{
    const Part part = find_part();
    const float lr = number(part, 0u), correction1 = number(part, 1u), correction2 = number(part, 2u);
    const float beta1 = scalar(part, 3u), share1 = scalar(part, 4u);
    const float beta2 = scalar(part, 5u), share2 = scalar(part, 6u);
    const float eps = scalar(part, 7u), weight_decay = scalar(part, 8u);
    const Operand param = operand(part, 0u), grad = operand(part, 1u);
    const Operand first = operand(part, 2u), second = operand(part, 3u);
    const Operand new_param = operand(part, 7u), new_first = operand(part, 8u), new_second = operand(part, 9u);
    precise float size = lr / correction1;
    precise float kept = 1.0 - lr * weight_decay;
    const float root = rp_sqrt(correction2);
    for (uint round = 0u; round < ROUNDS; ++round) {
        const uint at = part.first + round * gl_WorkGroupSize.x;
        if (4u * at >= part.count)
            break;
        precise vec4 p = load(param, at);
        precise vec4 g = load(grad, at);
        const vec4 m_before = load(first, at), v_before = load(second, at);
        if (DECAY == 1u)
            g += weight_decay * p;
        if (DECAY == 2u)
            p *= kept;
        precise vec4 m =
            FROM_GRADIENT != 0u ? g - (g - m_before) * beta1 : m_before + share1 * (g - m_before);
        precise vec4 v = beta2 * v_before + share2 * g * g;
        const vec4 deviation = vec4(rp_sqrt(v.x), rp_sqrt(v.y), rp_sqrt(v.z), rp_sqrt(v.w));
        precise vec4 result = p - size * m / (deviation / root + eps);
        store(new_param, at, result);
        store(new_first, at, m);
        store(new_second, at, v);
    }
}
