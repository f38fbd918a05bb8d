#version 460
//   g  = grad + weight_decay * param
//   v' = momentum * v + share * g
//   param' = param - lr * (NESTEROV: g + momentum * v', else v'; without momentum g)
//
//   operands   param, grad, v, lr, param', v'
//   floats     lr, momentum, share (1 - dampening), weight_decay
//   ints       first workgroup, count
// variants: sgd_step: ; sgd_step_texel: -DTEXELS
#define OPERANDS 6
#define FLOATS 4
#define NUMBERS_AT 3
#define ADDRESS_OF_RECORD // SwiftShader does not cast a pointer into another
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/step.glsl"

layout(constant_id = 2) const uint MOMENTUM = 0;
layout(constant_id = 3) const uint DECAY = 0;
layout(constant_id = 4) const uint NESTEROV = 0;

void main()
{
    const Part part = find_part();
    const float lr = number(part, 0u), momentum = scalar(part, 1u), share = scalar(part, 2u);
    const float weight_decay = scalar(part, 3u);
    const Operand param = operand(part, 0u), grad = operand(part, 1u), velocity = operand(part, 2u);
    const Operand new_param = operand(part, 4u), new_velocity = operand(part, 5u);
    for (uint round = 0u; round < ROUNDS; ++round) {
        const uint at = part.first + round * gl_WorkGroupSize.x;
        if (4u * at >= part.count)
            break;
        const vec4 p = load(param, at);
        precise vec4 g = load(grad, at);
        if (DECAY != 0u)
            g += weight_decay * p;
        precise vec4 direction = g;
        if (MOMENTUM != 0u) {
            precise vec4 v = momentum * load(velocity, at) + share * g;
            store(new_velocity, at, v);
            direction = v;
            if (NESTEROV != 0u)
                direction = g + momentum * v;
        }
        precise vec4 result = p - lr * direction;
        store(new_param, at, result);
    }
}
