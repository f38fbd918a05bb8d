#version 460
// y = (x - max) - log(sum of exp(x - max)) along a row, or y = exp(x - max) / sum.
//
//   operands   x, y; the rest: common/rows.glsl
// variants: log_softmax: ; log_softmax_texel: -DTEXELS
// variants: softmax: -DSOFTMAX ; softmax_texel: -DSOFTMAX -DTEXELS
#define OPERANDS 2
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
    const Row x = row_of(0u, c), y = row_of(1u, c);
    if (!exists)
        return;

    vec4 m = vec4(-rp_inf());
    for (uint e = 0u; e < n; e += 4u) {
        const vec4 t = load4(x, e, n);
        m = vec4(rp_max(m.x, t.x), rp_max(m.y, t.y), rp_max(m.z, t.z), rp_max(m.w, t.w));
    }
    float largest = rp_max(rp_max(m.x, m.y), rp_max(m.z, m.w));
    largest = rp_is_zero(largest) ? 0.0 : largest; // which zero won depends on the order

    precise float total = 0.0;
    for (uint block = 0u; block < n; block += BLOCK) {
        precise vec4 sum = vec4(0.0);
        const uint end = min(block + BLOCK, n);
        for (uint e = block; e < end; e += 4u) {
            precise vec4 shifted = load4(x, e, n) - largest;
            sum += inside(exponential(shifted), e, n);
        }
        total += (sum.x + sum.y) + (sum.z + sum.w);
    }

#ifndef SOFTMAX
    const float log_total = rp_log(total);
#endif
    for (uint e = 0u; e < n; e += 4u) {
        precise vec4 shifted = load4(x, e, n) - largest;
#ifdef SOFTMAX
        precise vec4 result = exponential(shifted) / total;
#else
        precise vec4 result = shifted - log_total;
#endif
        store4(y, e, n, result);
    }
}
