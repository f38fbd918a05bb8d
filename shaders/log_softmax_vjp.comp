#version 460
// dx = dy - exp(y) * sum(dy) along a row; of softmax: dx = (dy - sum(dy * y)) * y.
//
//   operands   dy, y, dx; the rest: common/rows.glsl
// variants: log_softmax_vjp: ; log_softmax_vjp_texel: -DTEXELS
// variants: softmax_vjp: -DSOFTMAX ; softmax_vjp_texel: -DSOFTMAX -DTEXELS
#define OPERANDS 3
#define FLOATS 0
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/rows.glsl"

void main()
{
    uint n;
    uint c[MAX_RANK];
    const bool exists = place(n, c);
    const Row dy = row_of(0u, c), y = row_of(1u, c), dx = row_of(2u, c);
    if (!exists)
        return;

    precise float total = 0.0;
    for (uint block = 0u; block < n; block += BLOCK) {
        precise vec4 sum = vec4(0.0);
        const uint end = min(block + BLOCK, n);
        for (uint e = block; e < end; e += 4u) {
            precise vec4 term = load4(dy, e, n);
#ifdef SOFTMAX
            term *= load4(y, e, n);
#endif
            sum += inside(term, e, n);
        }
        total += (sum.x + sum.y) + (sum.z + sum.w);
    }

    for (uint e = 0u; e < n; e += 4u) {
        const vec4 g = load4(dy, e, n), v = load4(y, e, n);
#ifdef SOFTMAX
        precise vec4 result = (g - total) * v;
#else
        precise vec4 result = g - exponential(v) * total;
#endif
        store4(dx, e, n, result);
    }
}
