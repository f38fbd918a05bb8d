#version 460
// Products of f32 or f64; i64 products of i64 or i32, which wrap around.  This file defines the operation of
// common/reduce.glsl.
// variants: prod: ; prod_rows: -DROWS ; prod_rows_texel: -DROWS -DTEXELS
// variants: prod_columns: -DCOLUMNS ; prod_columns_texel: -DCOLUMNS -DTEXELS ; prod_partials: -DPARTIALS
// variants: prod_f64: -DDOUBLE ; prod_partials_f64: -DDOUBLE -DPARTIALS
// variants: prod_i64: -DLONG ; prod_partials_i64: -DLONG -DPARTIALS
// variants: prod_group: -DGROUP ; prod_rows_group: -DGROUP -DROWS ; prod_columns_group: -DGROUP -DCOLUMNS
// not on CUDA: prod, prod_rows, prod_columns, prod_partials
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
#define IDENTITY uvec2(1u, 0u)
uvec2 combine(uvec2 a, uvec2 b) { return rp_mul(a, b); }
#else
#define ELEMENT REAL
#define VECTOR4 REAL4
#define Elements Reals
#define IDENTITY 1.0
precise REAL combine(REAL a, REAL b) { return a * b; }
precise REAL4 combine(REAL4 a, REAL4 b) { return a * b; }
#endif
#include "common/reduce.glsl"
