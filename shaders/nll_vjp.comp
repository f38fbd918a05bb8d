#version 460
// dx[r][c] = c == target[r] ? -dy[r] : 0; the row of a target to be ignored is 0, that of a target out of range NaN.
//
//   target     i32; dx is contiguous
//   count      elements of dx
//   ignored    the target to be ignored
//   groups     ceil(count / 256)
// variants: nll_vjp: ; nll_vjp_texel: -DTEXELS ; nll_vjp_f64: -DDOUBLE
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/index.glsl"

layout(local_size_x = 64) in;

layout(constant_id = 0) const uint WHOLE = 0; // the number of classes is a multiple of 4: a group lies in one row

RECORD(nll_vjp)
INPUT(dy) INPUT(target) OUTPUT(dx)
INT(count) INT(classes) INT(dy_stride) INT(target_stride) INT(ignored)
END_RECORD

void main()
{
    const uint count = uint(record.count), classes = uint(record.classes);
    const uint dy_stride = uint(record.dy_stride), target_stride = uint(record.target_stride);
    const uint ignored = uint(record.ignored);
    const Operand dy = record.dy, target = record.target, dx = record.dx;
    const uint group = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x; // a group has 4 elements
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
