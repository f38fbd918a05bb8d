#version 460
//   g  = grad + weight_decay * param
//   v' = momentum * v + share * g
//   param' = param - lr * (NESTEROV: g + momentum * v', else v'; without momentum g)
//
//   operands   param, grad, v, lr, param', v'
//   floats     lr, momentum, share (1 - dampening), weight_decay
//   ints       count
// variants: sgd_step: ; sgd_step_texel: -DTEXELS
#define OPERANDS 6
#define FLOATS 4
#define NUMBERS_AT 3
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/step.glsl"

layout(constant_id = 1) const uint MOMENTUM = 0;
layout(constant_id = 2) const uint DECAY = 0;
layout(constant_id = 3) const uint NESTEROV = 0;

void main()
{
    const float lr = number(0u), momentum = record.f[1], share = record.f[2], weight_decay = record.f[3];
    const uint count = uint(record.n[0]);
    const Operand param = record.operand[0], grad = record.operand[1], velocity = record.operand[2];
    const Operand new_param = record.operand[4], new_velocity = record.operand[5];
    const uint group = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (4u * group >= count)
        return;
    const vec4 p = load(param, group);
    precise vec4 g = load(grad, group);
    if (DECAY != 0u)
        g += weight_decay * p;
    precise vec4 direction = g;
    if (MOMENTUM != 0u) {
        precise vec4 v = momentum * load(velocity, group) + share * g;
        store(new_velocity, group, v);
        direction = v;
        if (NESTEROV != 0u)
            direction = g + momentum * v;
    }
    precise vec4 result = p - lr * direction;
    store(new_param, group, result);
}
