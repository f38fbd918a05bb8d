#version 460
// Sums of f32 or f64; i64 sums of i64 or i32, which wrap around.  This file defines the operation of
// common/reduce.glsl.
// variants: sum: ; sum_rows: -DROWS ; sum_rows_texel: -DROWS -DTEXELS
// variants: sum_columns: -DCOLUMNS ; sum_columns_texel: -DCOLUMNS -DTEXELS ; sum_partials: -DPARTIALS
// variants: sum_f64: -DDOUBLE ; sum_partials_f64: -DDOUBLE -DPARTIALS
// variants: sum_i64: -DLONG ; sum_partials_i64: -DLONG -DPARTIALS
// variants: sum_group: -DGROUP ; sum_rows_group: -DGROUP -DROWS ; sum_columns_group: -DGROUP -DCOLUMNS
// variants: sum_rows_group_dtypes: -DGROUP -DROWS -DDTYPES ; sum_columns_group_dtypes: -DGROUP -DCOLUMNS -DDTYPES
// not on CUDA: sum, sum_rows, sum_columns, sum_partials
#ifndef CHAIN
#define OPERANDS 2
#define FLOATS 0
#endif
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"

#ifdef LONG
#include "common/i64.glsl"
#define IDENTITY uvec2(0u)
uvec2 combine(uvec2 a, uvec2 b) { return rp_add(a, b); }
#else
#define ELEMENT REAL
#define VECTOR4 REAL4
#define Elements Reals
#define IDENTITY (-0.0) // adds to every value without changing its bits
#define EMPTY 0.0
precise REAL combine(REAL a, REAL b) { return a + b; }
precise REAL4 combine(REAL4 a, REAL4 b) { return a + b; }
#endif
#include "common/reduce.glsl"
