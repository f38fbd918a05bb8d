#version 460
//   g  = grad + weight_decay * param
//   m' = m + share1 * (g - m)            starting from g if share1 >= 0.5, like lerp
//   v' = beta2 * v + share2 * g * g
//   max' = max(max, v')                  with AMSGRAD; then replaces v' below
//   param' = param * kept - step_size * m' / (sqrt(v') / root + eps)
//
//   operands   param, grad, m, v, max, step_size, share1, beta2, share2, root, eps, weight_decay, kept, skip,
//              param', m', v', max', low, low'
//   floats     step_size, share1, beta2, share2, root, eps, weight_decay, kept, skip
//   ints       as common/step.glsl says
// variants: adam_step: ; adam_step_texel: -DTEXELS ; adam_step_f64: -DDOUBLE
#define OPERANDS 20
#define FLOATS 9
#define NUMBERS_AT 5
#define ADDRESS_OF_RECORD // SwiftShader does not cast a pointer into another
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/step.glsl"
#include "common/step_results.glsl"

layout(constant_id = 8) const uint AMSGRAD = 0;
layout(constant_id = 9) const uint MAXIMIZE = 0;

void main()
{
    const Part part = find_part();
    const REAL step_size = number(part, 0u), share1 = number(part, 1u), beta2 = number(part, 2u);
    const REAL share2 = number(part, 3u), root = number(part, 4u), eps = number(part, 5u);
    const REAL weight_decay = number(part, 6u), kept = number(part, 7u);
    const bool skip = skips(part);
    const Operand param = operand(part, 0u), grad = operand(part, 1u), first = operand(part, 2u);
    const Operand second = operand(part, 3u), largest = operand(part, 4u), new_param = operand(part, 14u);
    const Operand new_first = operand(part, 15u), new_second = operand(part, 16u), new_largest = operand(part, 17u);
    for (uint round = 0u; round < ROUNDS; ++round) {
        if (is_past(part, round))
            break;
        const REAL4 p = load_param(part, param, round);
        precise REAL4 g = load_round(part, grad, round, GRAD);
        g = MAXIMIZE != 0u ? -g : g;
        precise REAL4 decayed = g + weight_decay * p;
        g = weight_decay != 0.0 ? decayed : g;
        const REAL4 m_before = load_moment(part, first, round, 1u);
        precise REAL4 towards = m_before + share1 * (g - m_before);
        precise REAL4 back = g - (g - m_before) * (1.0 - share1);
        const REAL4 m = share1 < 0.5 ? towards : back;
        const REAL4 v_before = load_moment(part, second, round, 2u);
        precise REAL4 v = beta2 * v_before + share2 * g * g;
        store_moment(part, first, new_first, round, 1u, skip, m_before, m);
        store_moment(part, second, new_second, round, 2u, skip, v_before, v);
        if (AMSGRAD != 0u) {
            const REAL4 before = load_moment(part, largest, round, 3u);
            v = REAL4(rp_max(v.x, before.x), rp_max(v.y, before.y), rp_max(v.z, before.z), rp_max(v.w, before.w));
            store_moment(part, largest, new_largest, round, 3u, skip, before, v);
        }
        const REAL4 deviation = REAL4(rp_sqrt(v.x), rp_sqrt(v.y), rp_sqrt(v.z), rp_sqrt(v.w));
        precise REAL4 result = p * kept - step_size * m / (deviation / root + eps);
        store_param(part, param, new_param, round, skip, p, result);
    }
}
