#version 460
//   g  = grad + weight_decay * param          DECAY 1
//   p  = param * (1 - lr * weight_decay)      DECAY 2: decoupled
//   m' = m + (1 - beta1) * (g - m)            from g where 1 - beta1 >= 0.5, as lerp has it
//   v' = beta2 * v + (1 - beta2) * g * g
//   param' = p - lr / correction1 * m' / (sqrt(v') / sqrt(correction2) + eps)
//
//   operands   param, grad, m, v, lr, correction1, correction2, param', m', v'
//   floats     lr, correction1, correction2, beta1, 1 - beta1, beta2, 1 - beta2, eps, weight_decay
//   ints       count
// variants: adam_step: ; adam_step_texel: -DTEXELS
#define OPERANDS 10
#define FLOATS 9
#define NUMBERS_AT 4
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/step.glsl"

layout(constant_id = 1) const uint DECAY = 0;
layout(constant_id = 2) const uint FROM_GRADIENT = 0;

void main()
{
    const float lr = number(0u), correction1 = number(1u), correction2 = number(2u);
    const float beta1 = record.f[3], share1 = record.f[4], beta2 = record.f[5], share2 = record.f[6];
    const float eps = record.f[7], weight_decay = record.f[8];
    const uint count = uint(record.n[0]);
    const Operand param = record.operand[0], grad = record.operand[1];
    const Operand first = record.operand[2], second = record.operand[3];
    const Operand new_param = record.operand[7];
    const Operand new_first = record.operand[8], new_second = record.operand[9];
    const uint group = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (4u * group >= count)
        return;
    precise vec4 p = load(param, group);
    precise vec4 g = load(grad, group);
    const vec4 m_before = load(first, group), v_before = load(second, group);
    if (DECAY == 1u)
        g += weight_decay * p;
    if (DECAY == 2u)
        p *= 1.0 - lr * weight_decay;
    precise vec4 m = FROM_GRADIENT != 0u ? g - (g - m_before) * beta1 : m_before + share1 * (g - m_before);
    precise vec4 v = beta2 * v_before + share2 * g * g;
    precise float size = lr / correction1;
    const float root = rp_sqrt(correction2);
    const vec4 deviation = vec4(rp_sqrt(v.x), rp_sqrt(v.y), rp_sqrt(v.z), rp_sqrt(v.w));
    precise vec4 result = p - size * m / (deviation / root + eps);
    store(new_param, group, result);
    store(new_first, group, m);
    store(new_second, group, v);
}
