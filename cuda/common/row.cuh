// Functions for the formulas of the row in the file RP_ROW (reprise/elementwise.def): rp::f32::tanh_fwd(x),
// rp::f32::tanh_d0(x, y, dy), rp::i32::add_fwd(a, b), rp::i64::..., rp::f64::...
#pragma once

#define UNARY(name, out, tx, f, dx, lo, hi)                                                                            \
    RP_DEVICE RP_TYPE_##out name##_fwd(RP_TYPE_##tx x) { return f; }                                                   \
    RP_DERIVATIVE(RP_DEVICE real name##_d0(RP_TYPE_##tx x, real y, real dy) { return dx; })
#define BINARY(name, out, ta, tb, f, da, db, alo, ahi, blo, bhi)                                                       \
    RP_DEVICE RP_TYPE_##out name##_fwd(RP_TYPE_##ta a, RP_TYPE_##tb b) { return f; }                                   \
    RP_DERIVATIVE(RP_DEVICE real name##_d0(RP_TYPE_##ta a, RP_TYPE_##tb b, real y, real dy) { return da; })            \
    RP_DERIVATIVE(RP_DEVICE real name##_d1(RP_TYPE_##ta a, RP_TYPE_##tb b, real y, real dy) { return db; })
#define TERNARY(name, out, ta, tb, tc, f, da, db, dc, alo, ahi, blo, bhi, clo, chi)                                    \
    RP_DEVICE RP_TYPE_##out name##_fwd(RP_TYPE_##ta a, RP_TYPE_##tb b, RP_TYPE_##tc c) { return f; }                   \
    RP_DERIVATIVE(RP_DEVICE real name##_d0(RP_TYPE_##ta a, RP_TYPE_##tb b, RP_TYPE_##tc c, real y, real dy) { return da; }) \
    RP_DERIVATIVE(RP_DEVICE real name##_d1(RP_TYPE_##ta a, RP_TYPE_##tb b, RP_TYPE_##tc c, real y, real dy) { return db; }) \
    RP_DERIVATIVE(RP_DEVICE real name##_d2(RP_TYPE_##ta a, RP_TYPE_##tb b, RP_TYPE_##tc c, real y, real dy) { return dc; })
#define NONE real(0)
#define K(c) real(c)
#define RP_TYPE_F real
#define RP_TYPE_B bool
#define RP_DERIVATIVE(...) __VA_ARGS__

#define RP_TYPE_N real
#define RP_TYPE_I int
namespace rp::f32 {
using real = float;
#include RP_ROW
} // namespace rp::f32
#ifdef RP_ROW_DOUBLES
namespace rp::f64 {
using real = double;
#include RP_ROW
} // namespace rp::f64
#endif
#undef RP_TYPE_N
#undef K
#undef RP_DERIVATIVE

// Integers have no derivatives.
#undef RP_TYPE_I
#define RP_DERIVATIVE(...)
#ifdef RP_ROW_INTEGERS
#define RP_TYPE_N int
#define RP_TYPE_I int
#define K(c) int(c)
namespace rp::i32 {
using real = float;
#include RP_ROW
} // namespace rp::i32
#undef RP_TYPE_N
#undef RP_TYPE_I
#undef K
#endif
#ifdef RP_ROW_LONGS
#define RP_TYPE_N Long
#define RP_TYPE_I Long
#define K(c) Long(c)
namespace rp::i64 {
using real = float;
#include RP_ROW
} // namespace rp::i64
#undef RP_TYPE_N
#undef RP_TYPE_I
#undef K
#endif
#undef RP_DERIVATIVE
