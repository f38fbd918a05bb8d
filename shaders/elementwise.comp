#version 460
// One part of a row of reprise/elementwise.def: the formula (tanh_fwd) or the derivative by input k (tanh_d0). The
// build writes the row's text to row.def and compiles two kernels from it: elementwise_tanh_fwd for all dtypes and
// modes, and elementwise_tanh_fwd_plain for operands of the row's own types (F f32, N f32 or i32, B bool) that are
// contiguous, scalar or immediate. Both have the same record and constants and produce the same bits; drivers that do
// not fold branches on specialization constants (SwiftShader) run the plain one five times faster. The build defines
//   KERNEL          tanh_d0
//   OPERANDS        inputs [, y, dy], output
//   T0 ... T4       types of the operands except the output: F, B, N or I (integers: INTEGER only)
//   RESULT          type of the result
//   INTEGER         N is int (elementwise_add_fwd_i32), else it is float
//   PLAIN           in *_plain
//   DOUBLE          F and N are double, in *_f64: operands are accessed by address only and are f64 or bool
//   CONVERTS        with DOUBLE: the row is the identity, whose operands may be of any two dtypes
//
// record: operands  inputs..., y and dy for a derivative, output; unread ones may have address 0
//         floats    one per slot (operand except the output): the value of an immediate
//         ints      count, size[RANK], stride[slots][RANK] in elements, outermost first;
//                   with INTEGER then one immediate per slot
// The output is contiguous and has the broadcast shape; groups = ceil(count / 512).
#define FLOATS (OPERANDS - 1)
#ifndef DOUBLE
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/dtypes.glsl"
#include "common/index.glsl"
#ifdef CONVERTS
#include "common/i64.glsl"
#endif

layout(local_size_x = 128) in; // on lavapipe 64 is 6 % slower; 256 is 4 % faster, but more than Vulkan guarantees

layout(constant_id = 0) const uint PATH = 0; // 0: by address; 1: texel loads, and window stores of 4-byte elements
layout(constant_id = 3) const uint MODE_0 = 0;
layout(constant_id = 5) const uint MODE_1 = 0;
layout(constant_id = 7) const uint MODE_2 = 0;
layout(constant_id = 9) const uint MODE_3 = 0;
layout(constant_id = 11) const uint MODE_4 = 0;
#ifndef PLAIN
layout(constant_id = 1) const uint RANK = 0; // dimensions of the strided index; 0 if no operand is strided
layout(constant_id = 2) const uint DTYPE_0 = 0;
layout(constant_id = 4) const uint DTYPE_1 = 0;
layout(constant_id = 6) const uint DTYPE_2 = 0;
layout(constant_id = 8) const uint DTYPE_3 = 0;
layout(constant_id = 10) const uint DTYPE_4 = 0;
layout(constant_id = 12) const uint DTYPE_RESULT = 0;
#else
const uint RANK = 0;
#define DTYPE_0 DTYPE(T0)
#define DTYPE_1 DTYPE(T1)
#define DTYPE_2 DTYPE(T2)
#define DTYPE_3 DTYPE(T3)
#define DTYPE_4 DTYPE(T4)
#define DTYPE_RESULT DTYPE(RESULT)
#endif

// The modes of an operand.
const uint CONTIGUOUS = 0; // starts 16-byte aligned
const uint SCALAR = 1;     // one element
const uint STRIDED = 2;    // offset = sum of coordinate * stride, never negative
const uint IMMEDIATE = 3;  // in the record
// Strided modes whose innermost size is always a multiple of 4:
const uint ROWS = 4;  // innermost stride 1, the others multiples of 4, starts 16-byte aligned
const uint SPLAT = 5; // innermost stride 0

#ifdef INTEGER
#define RP_TYPE_N int
#define RP_TYPE_I int
#define VECTOR_N ivec4
#define VECTOR_I ivec4
#define RESULT_N int
#define RESULT_I int
#define DTYPE_OF_N DTYPE_I32
#define DTYPE_OF_I DTYPE_I32
#define K(c) int(c)
#define load_N load_I
#define IMMEDIATE_TYPE int
#define IMMEDIATE_VALUE(k) record.n[1 + RANK * OPERANDS + k]
#else
#define RP_TYPE_N REAL
#define VECTOR_N REAL4
#define RESULT_N precise REAL
#define DTYPE_OF_N DTYPE_F32
#define K(c) REAL(c)
#define load_N load_F
#define IMMEDIATE_TYPE REAL
#define IMMEDIATE_VALUE(k) record.f[k]
#endif
#define RP_TYPE_F REAL
#define RP_TYPE_B bool
#define VECTOR_F REAL4
#define VECTOR_B bvec4
#define RESULT_F precise REAL
#define RESULT_B bool
#define DTYPE_OF_F DTYPE_F32
#define DTYPE_OF_B DTYPE_BOOL
#define NONE K(0)

#define UNARY(name, out, tx, f, dx, lo, hi)                                                         \
    RESULT_##out name##_fwd(RP_TYPE_##tx x) { return f; }                                           \
    RESULT_F name##_d0(RP_TYPE_##tx x, REAL y, REAL dy) { return dx; }
#define BINARY_D(name, k, ta, tb, d)                                                                \
    RESULT_F name##_d##k(RP_TYPE_##ta a, RP_TYPE_##tb b, REAL y, REAL dy) { return d; }
#define BINARY(name, out, ta, tb, f, da, db, alo, ahi, blo, bhi)                                    \
    RESULT_##out name##_fwd(RP_TYPE_##ta a, RP_TYPE_##tb b) { return f; }                           \
    BINARY_D(name, 0, ta, tb, da) BINARY_D(name, 1, ta, tb, db)
#define TERNARY_D(name, k, ta, tb, tc, d)                                                           \
    RESULT_F name##_d##k(RP_TYPE_##ta a, RP_TYPE_##tb b, RP_TYPE_##tc c, REAL y, REAL dy) { return d; }
#define TERNARY(name, out, ta, tb, tc, f, da, db, dc, alo, ahi, blo, bhi, clo, chi)                 \
    RESULT_##out name##_fwd(RP_TYPE_##ta a, RP_TYPE_##tb b, RP_TYPE_##tc c) { return f; }           \
    TERNARY_D(name, 0, ta, tb, tc, da) TERNARY_D(name, 1, ta, tb, tc, db) TERNARY_D(name, 2, ta, tb, tc, dc)
#include "row.def"

#define PASTE(a, b) a##b
#define VECTOR(t) PASTE(VECTOR_, t)
#define LOAD(t) PASTE(load_, t)
#define DTYPE(t) PASTE(DTYPE_OF_, t)

#if OPERANDS == 2
#define EACH_SLOT(what) what(0)
#define ARGUMENTS(j) v0[j]
#elif OPERANDS == 3
#define EACH_SLOT(what) what(0) what(1)
#define ARGUMENTS(j) v0[j], v1[j]
#elif OPERANDS == 4
#define EACH_SLOT(what) what(0) what(1) what(2)
#define ARGUMENTS(j) v0[j], v1[j], v2[j]
#elif OPERANDS == 5
#define EACH_SLOT(what) what(0) what(1) what(2) what(3)
#define ARGUMENTS(j) v0[j], v1[j], v2[j], v3[j]
#else
#define EACH_SLOT(what) what(0) what(1) what(2) what(3) what(4)
#define ARGUMENTS(j) v0[j], v1[j], v2[j], v3[j], v4[j]
#endif

#include "common/elements.glsl"

#ifndef PLAIN
bool walks(uint mode) { return mode == STRIDED || mode == ROWS || mode == SPLAT; }
#else
bool walks(uint mode) { return false; }
#endif

// Loads the four elements of a group as bits. `at` has their offsets in a strided operand.
uvec4 load_slot(Operand o, uint dtype, uint mode, uint group, uvec4 at)
{
    uvec4 bits = uvec4(0);
#ifndef PLAIN
    if (mode == CONTIGUOUS || mode == ROWS) {
        bits = load_group(o, dtype, mode == ROWS ? at.x >> 2 : group);
    } else if (mode == STRIDED) {
        for (uint j = 0; j < 4; ++j) bits[j] = load_element(o, dtype, at[j]);
    } else if (mode != IMMEDIATE) {
        bits = uvec4(load_element(o, dtype, at.x));
    }
#else
    if (mode == CONTIGUOUS) bits = load_group(o, dtype, group);
    else if (mode == SCALAR) bits = uvec4(load_element(o, dtype, 0u));
#endif
    return bits;
}
#ifdef DOUBLE
dvec4 load_F(Operand o, uint dtype, uint mode, double immediate, uint group, uvec4 at)
{
    dvec4 v = dvec4(immediate);
    if (mode == IMMEDIATE) return v;
    const uvec4 next = uvec4(0u, 1u, 2u, 3u);
    uvec4 e = mode == STRIDED ? at : uvec4(at.x);
    if (mode == CONTIGUOUS) e = min(4u * group + next, uvec4(uint(record.n[0]) - 1u));
    else if (mode == ROWS) e += next;
#ifdef CONVERTS
    if (dtype == DTYPE_I64) {
        for (uint j = 0; j < 4; ++j) v[j] = rp_to_f64(Longs(o.address).v[e[j]]);
        return v;
    } else if (dtype == DTYPE_F32 || is_half(dtype)) {
        return dvec4(floats_of(load_slot(o, dtype, mode, group, at), dtype));
    } else if (dtype != DTYPE_F64) {
        return dvec4(ints_of(load_slot(o, dtype, mode, group, at), dtype));
    }
#endif
    for (uint j = 0; j < 4; ++j) v[j] = Reals(o.address).v[e[j]];
    return v;
}
uvec4 bits_of(dvec4 v, uint dtype)
{
    uvec4 b;
    if (dtype == DTYPE_F32 || is_half(dtype)) b = bits_of(vec4(v), dtype);
    else for (uint j = 0; j < 4; ++j) b[j] = dtype == DTYPE_BOOL ? uint(rp_is_nonzero(v[j])) : uint(rp_to_i32(v[j]));
    return b;
}
#else
vec4 load_F(Operand o, uint dtype, uint mode, float immediate, uint group, uvec4 at)
{
    vec4 v = vec4(immediate);
    if (mode != IMMEDIATE) v = floats_of(load_slot(o, dtype, mode, group, at), dtype);
    return v;
}
#endif
ivec4 load_I(Operand o, uint dtype, uint mode, int immediate, uint group, uvec4 at)
{
    ivec4 v = ivec4(immediate);
    if (mode != IMMEDIATE) v = ints_of(load_slot(o, dtype, mode, group, at), dtype);
    return v;
}
bvec4 load_B(Operand o, uint dtype, uint mode, IMMEDIATE_TYPE immediate, uint group, uvec4 at)
{
    bvec4 v = bvec4(rp_is_nonzero(immediate));
    if (mode != IMMEDIATE) v = bools_of(load_slot(o, dtype, mode, group, at), dtype);
    return v;
}

void main()
{
    // Reads the whole record before any branch: inside of one, lavapipe would read it lane by lane.
    const uint count = uint(record.n[0]);
    const Operand result = record.operand[OPERANDS - 1];
    uint size[MAX_RANK];
    for (uint d = 0; d < RANK; ++d) size[d] = uint(record.n[1 + d]);
#define READ(k)                                                                                         \
    const Operand operand_##k = record.operand[k];                                                      \
    const IMMEDIATE_TYPE immediate_##k = IMMEDIATE_VALUE(k);                                            \
    int stride_##k[MAX_RANK];                                                                           \
    if (walks(MODE_##k))                                                                                \
        for (uint d = 0; d < RANK; ++d) stride_##k[d] = record.n[1 + RANK + k * RANK + d];
    EACH_SLOT(READ)

    const uint group = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    const uint first = 4u * group;
    if (first >= count) return;

#define START(k) uvec4 at_##k = uvec4(0);
    EACH_SLOT(START)
    if (RANK > 0) {
        uint c[MAX_RANK];
        coordinates(first, RANK, size, c);
#define OFFSET(k) if (walks(MODE_##k)) at_##k[j] = offset(RANK, c, stride_##k);
        for (uint j = 0; j < 4; ++j) {
            EACH_SLOT(OFFSET)
            advance(first + j + 1u < count ? 1u : 0u, RANK, size, c);
        }
    }
#define VALUES(k)                                                                                       \
    VECTOR(T##k) v##k = LOAD(T##k)(operand_##k, DTYPE_##k, MODE_##k, immediate_##k, group, at_##k);
    EACH_SLOT(VALUES)

    VECTOR(RESULT) y;
#ifndef PLAIN
    for (uint j = 0; j < 4; ++j) y[j] = KERNEL(ARGUMENTS(j));
#else
    y.x = KERNEL(ARGUMENTS(0)); // not [[unroll]]: spirv-opt's copies would lose NoContraction
    y.y = KERNEL(ARGUMENTS(1));
    y.z = KERNEL(ARGUMENTS(2));
    y.w = KERNEL(ARGUMENTS(3));
#endif
#ifdef DOUBLE
    if (DTYPE_RESULT == DTYPE_F64) {
        for (uint j = 0; j < 4; ++j)
            if (first + j < count) Reals(result.address).v[first + j] = REAL(y[j]);
        return;
    }
#ifdef CONVERTS
    if (DTYPE_RESULT == DTYPE_I64) {
        for (uint j = 0; j < 4; ++j)
            if (first + j < count) Longs(result.address).v[first + j] = rp_to_i64(y[j]);
        return;
    }
#endif
#endif
    store_group(result, DTYPE_RESULT, group, bits_of(y, DTYPE_RESULT));
}
