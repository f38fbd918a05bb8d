#version 460
// dx[r][c] = c == target[r] ? -dy[r] : 0; 0 in the row of the target to be ignored,
// NaN in that of one outside.
//
//   operands   dy, target (i32), dx (contiguous)
//   ints       elements of dx, classes, stride of dy, stride of target, the target to be ignored
//   groups     ceil(elements / 256)
// variants: nll_vjp: ; nll_vjp_texel: -DTEXELS ; nll_vjp_f64: -DDOUBLE
#define OPERANDS 3
#define FLOATS 0
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/index.glsl"

layout(local_size_x = 64) in;

layout(constant_id = 0) const uint WHOLE = 0; // the classes are a multiple of 4: a group lies in one row

void main()
{
    const uint count = uint(record.n[0]), classes = uint(record.n[1]);
    const uint dy_stride = uint(record.n[2]), target_stride = uint(record.n[3]);
    const uint ignored = uint(record.n[4]);
    const Operand dy = record.operand[0], target = record.operand[1], dx = record.operand[2];
    const uint group = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x; // of 4 elements
    if (4u * group >= count)
        return;
    uint row = quotient(4u * group, classes);
    uint c = 4u * group - row * classes;
    precise REAL4 result = REAL4(0.0);
    uint t = 0u;
    precise REAL g = 0.0;
    bool fresh = true;
#define ELEMENT(i)                                                                   \
    if (fresh && (i == 0u || WHOLE == 0u) && 4u * group + i < count) {               \
        t = uint(Ints(target.address).v[row * target_stride]);                       \
        g = -Reals(dy.address).v[row * dy_stride];                                  \
    }                                                                                \
    result[i] = t == ignored ? 0.0                                                   \
                : t >= classes ? rp_nan() /* below 0 is above */                     \
                               : (t == c ? g : 0.0);                                 \
    ++c;                                                                             \
    fresh = c == classes;                                                            \
    row += fresh ? 1u : 0u;                                                          \
    c = fresh ? 0u : c;
    ELEMENT(0u) ELEMENT(1u) ELEMENT(2u) ELEMENT(3u)
#ifdef TEXELS
    slab_window[WINDOW_OF(dx.texel)].v[IN_WINDOW(dx.texel) + group] = result;
#elif defined(DOUBLE)
    for (uint i = 0u; i < 4u; ++i)
        if (4u * group + i < count) Reals(dx.address).v[4u * group + i] = result[i];
#else
    Vec4s(dx.address).v[group] = result;
#endif
}
