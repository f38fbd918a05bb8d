#version 460
// A row of reprise/elementwise.def on i64. Record and constants are those of elementwise.comp, except that an immediate
// has two ints, the low one first. Operands are i64 or bool and are accessed by address only. The build writes the
// row's text to row.def, with rp_add(a, b) in place of a + b, and defines
//   KERNEL          add_fwd
//   OPERANDS        inputs, output
//   T0 ... T2       types of the inputs: B, N or I
//   RESULT          type of the result
//   CONVERTS        the row is the identity, whose operands may be of any two dtypes except f64
#define FLOATS (OPERANDS - 1)
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/dtypes.glsl"
#include "common/index.glsl"
#include "common/i64.glsl"

layout(local_size_x = 128) in;

layout(constant_id = 1) const uint RANK = 0; // dimensions of the strided index; 0 if no operand is strided
layout(constant_id = 2) const uint DTYPE_0 = 0;
layout(constant_id = 3) const uint MODE_0 = 0;
layout(constant_id = 4) const uint DTYPE_1 = 0;
layout(constant_id = 5) const uint MODE_1 = 0;
layout(constant_id = 6) const uint DTYPE_2 = 0;
layout(constant_id = 7) const uint MODE_2 = 0;
layout(constant_id = 12) const uint DTYPE_RESULT = 0;

// Modes of shaders/elementwise.comp; all others are strided.
const uint CONTIGUOUS = 0, SCALAR = 1, IMMEDIATE = 3;

#define TYPE_N uvec2
#define TYPE_I uvec2
#define TYPE_B bool
#define UNARY(name, out, tx, f, dx, lo, hi) TYPE_##out name##_fwd(TYPE_##tx x) { return f; }
#define BINARY(name, out, ta, tb, f, da, db, alo, ahi, blo, bhi)                                    \
    TYPE_##out name##_fwd(TYPE_##ta a, TYPE_##tb b) { return f; }
#define TERNARY(name, out, ta, tb, tc, f, da, db, dc, alo, ahi, blo, bhi, clo, chi)                 \
    TYPE_##out name##_fwd(TYPE_##ta a, TYPE_##tb b, TYPE_##tc c) { return f; }
#include "row.def"

uvec2 load_N(Operand o, uint dtype, uint e)
{
#ifdef CONVERTS
    uvec2 v;
    if (dtype == DTYPE_I64) {
        v = Longs(o.address).v[e];
    } else {
        const uint bits = load_bits(o.address, dtype, e);
        v = dtype == DTYPE_F32 || is_half(dtype) ? rp_to_i64(float_of(bits, dtype)) : rp_long(int_of(bits, dtype));
    }
    return v;
#else
    return Longs(o.address).v[e];
#endif
}
#define load_I load_N
bool load_B(Operand o, uint dtype, uint e) { return load_bits(o.address, DTYPE_BOOL, e) != 0u; }
uvec2 as_N(uvec2 immediate) { return immediate; }
#define as_I as_N
bool as_B(uvec2 immediate) { return rp_is_nonzero(immediate); }

uvec2 whole(uvec2 y) { return y; }
uvec2 whole(bool y) { return uvec2(uint(y), 0u); }
uint narrowed(bool y) { return uint(y); }
uint narrowed(uvec2 y)
{
#ifdef CONVERTS
    const bool real = DTYPE_RESULT == DTYPE_F32 || is_half(DTYPE_RESULT);
    return real ? bits_of(rp_to_f32(y), DTYPE_RESULT) : y.x; // to bool there is the row to_bool
#else
    return 0u; // the result is i64
#endif
}

#define PASTE(a, b) a##b
#define TYPE(t) PASTE(TYPE_, t)
#define LOAD(t) PASTE(load_, t)
#define AS(t) PASTE(as_, t)

#if OPERANDS == 2
#define EACH_SLOT(what) what(0)
#define ARGUMENTS v0
#elif OPERANDS == 3
#define EACH_SLOT(what) what(0) what(1)
#define ARGUMENTS v0, v1
#else
#define EACH_SLOT(what) what(0) what(1) what(2)
#define ARGUMENTS v0, v1, v2
#endif

bool walks(uint mode) { return mode != CONTIGUOUS && mode != SCALAR && mode != IMMEDIATE; }

void main()
{
    const uint count = uint(record.n[0]);
    const Operand result = record.operand[OPERANDS - 1];
    uint size[MAX_RANK];
    for (uint d = 0; d < RANK; ++d) size[d] = uint(record.n[1 + d]);
    const uint immediates = 1u + RANK * OPERANDS;
#define READ(k)                                                                                         \
    const Operand operand_##k = record.operand[k];                                                      \
    const uvec2 immediate_##k = uvec2(record.n[immediates + 2 * k], record.n[immediates + 2 * k + 1]);  \
    int stride_##k[MAX_RANK];                                                                           \
    if (walks(MODE_##k))                                                                                \
        for (uint d = 0; d < RANK; ++d) stride_##k[d] = record.n[1 + RANK + k * RANK + d];
    EACH_SLOT(READ)

    const uint group = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x, first = 4u * group;
    if (first >= count) return;
    const uint end = min(first + 4u, count);
    uint c[MAX_RANK];
    if (RANK > 0) coordinates(first, RANK, size, c);
    uvec4 bits = uvec4(0u); // for narrower results: an invocation writes whole words
    for (uint e = first; e < end; ++e) {
#define VALUE(k)                                                                                        \
    uint at_##k = MODE_##k == CONTIGUOUS ? e : 0u;                                                      \
    if (walks(MODE_##k)) at_##k = offset(RANK, c, stride_##k);                                          \
    TYPE(T##k) v##k = AS(T##k)(immediate_##k);                                                          \
    if (MODE_##k != IMMEDIATE) v##k = LOAD(T##k)(operand_##k, DTYPE_##k, at_##k);
        EACH_SLOT(VALUE)
        const TYPE(RESULT) y = KERNEL(ARGUMENTS);
        if (DTYPE_RESULT == DTYPE_I64) Longs(result.address).v[e] = whole(y);
        else bits[e - first] = narrowed(y);
        if (RANK > 0) advance(1u, RANK, size, c);
    }
    if (DTYPE_RESULT != DTYPE_I64) store4_bits(result.address, DTYPE_RESULT, group, bits);
}
