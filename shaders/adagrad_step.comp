#version 460
//   g  = grad + weight_decay * param
//   s' = s + g * g
//   param' = param - lr * g / (sqrt(s') + eps)
//
//   operands   param, grad, s, lr, eps, weight_decay, skip, param', s'
//   floats     lr, eps, weight_decay, skip
//   ints       first workgroup, count
// variants: adagrad_step: ; adagrad_step_texel: -DTEXELS ; adagrad_step_f64: -DDOUBLE
#define OPERANDS 9
#define FLOATS 4
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
    const REAL lr = number(part, 0u), eps = number(part, 1u), weight_decay = number(part, 2u);
    const bool skip = number(part, 3u) != 0.0;
    const Operand param = operand(part, 0u), grad = operand(part, 1u), square = operand(part, 2u);
    const Operand new_param = operand(part, 7u), new_square = operand(part, 8u);
    for (uint round = 0u; round < ROUNDS; ++round) {
        const uint at = part.first + round * gl_WorkGroupSize.x;
        if (4u * at >= part.count)
            break;
        const REAL4 p = load(param, at);
        precise REAL4 g = MAXIMIZE != 0u ? -load(grad, at) : load(grad, at);
        precise REAL4 decayed = g + weight_decay * p;
        g = weight_decay != 0.0 ? decayed : g;
        const REAL4 before = load(square, at);
        precise REAL4 s = before + g * g;
        store(new_square, at, unless(skip, before, s));
        const REAL4 deviation = REAL4(rp_sqrt(s.x), rp_sqrt(s.y), rp_sqrt(s.z), rp_sqrt(s.w));
        precise REAL4 result = p - lr * g / (deviation + eps);
        store(new_param, at, unless(skip, p, result));
    }
}
