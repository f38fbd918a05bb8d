#version 460
//   grad'  = grad * factor
//   flags  = 1 if an element of grad is infinite or NaN, else 0; one for the 4096 elements of each workgroup
//
//   operands   grad of dtype GRAD, factor, grad' of dtype PARAM, flags (f32)
//   floats     factor
//   ints       first workgroup, count
// variants: unscale: ; unscale_texel: -DTEXELS ; unscale_f64: -DDOUBLE
#define OPERANDS 4
#define FLOATS 1
#define NUMBERS_AT 1
#define ADDRESS_OF_RECORD // SwiftShader does not cast a pointer into another
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/step.glsl"

shared uint finite_of[gl_WorkGroupSize.x];

bool is_finite(REAL v) { return !(rp_is_nan(v) || rp_is_inf(v)); }

void main()
{
    const Part part = find_part();
    const REAL factor = number(part, 0u);
    const Operand grad = operand(part, 0u), new_grad = operand(part, 2u);
    const uint count = part.count;
    bool finite = true;
    for (uint round = 0u; round < ROUNDS; ++round) {
        const uint at = part.first + round * gl_WorkGroupSize.x;
        if (4u * at >= count)
            break;
        const REAL4 g = load(grad, at, GRAD);
        // The last texel may have elements after the end of the gradient, which are not looked at.
        finite = finite && is_finite(g.x) && (4u * at + 1u >= count || is_finite(g.y)) &&
                 (4u * at + 2u >= count || is_finite(g.z)) && (4u * at + 3u >= count || is_finite(g.w));
        precise REAL4 unscaled = g * factor;
        store(new_grad, at, PARAM, unscaled);
    }
    finite_of[gl_LocalInvocationID.x] = finite ? 1u : 0u;
    barrier();
    if (gl_LocalInvocationID.x != 0u)
        return;
    uint all = 1u;
    for (uint i = 0u; i < gl_WorkGroupSize.x; ++i)
        all &= finite_of[i];
    Floats(operand(part, 3u).address).v[part.first / (gl_WorkGroupSize.x * ROUNDS)] = all != 0u ? 0.0 : 1.0;
}
