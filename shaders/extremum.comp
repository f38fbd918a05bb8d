#version 460
// The maximum, or with LEAST the minimum, of f32, f64, i32 or i64; NaN wins. common/reduce.glsl has the reduction.
// variants: amax: ; amax_rows: -DROWS ; amax_rows_texel: -DROWS -DTEXELS
// variants: amax_columns: -DCOLUMNS ; amax_columns_texel: -DCOLUMNS -DTEXELS ; amax_partials: -DPARTIALS
// variants: amax_i32: -DINTEGER ; amax_i32_partials: -DINTEGER -DPARTIALS
// variants: amax_f64: -DDOUBLE ; amax_partials_f64: -DDOUBLE -DPARTIALS
// variants: amin_f64: -DDOUBLE -DLEAST ; amin_partials_f64: -DDOUBLE -DLEAST -DPARTIALS
// variants: amin: -DLEAST ; amin_rows: -DLEAST -DROWS ; amin_rows_texel: -DLEAST -DROWS -DTEXELS
// variants: amin_columns: -DLEAST -DCOLUMNS ; amin_columns_texel: -DLEAST -DCOLUMNS -DTEXELS
// variants: amin_partials: -DLEAST -DPARTIALS
// variants: amin_i32: -DLEAST -DINTEGER ; amin_i32_partials: -DLEAST -DINTEGER -DPARTIALS
// variants: amax_i64: -DLONG ; amax_partials_i64: -DLONG -DPARTIALS
// variants: amin_i64: -DLEAST -DLONG ; amin_partials_i64: -DLEAST -DLONG -DPARTIALS
// variants: amax_group: -DGROUP ; amax_rows_group: -DGROUP -DROWS ; amax_columns_group: -DGROUP -DCOLUMNS
// variants: amin_group: -DLEAST -DGROUP ; amin_rows_group: -DLEAST -DGROUP -DROWS
// variants: amin_columns_group: -DLEAST -DGROUP -DCOLUMNS
// not on CUDA: amax, amax_rows, amax_columns, amax_partials, amin, amin_rows, amin_columns, amin_partials
#ifndef CHAIN
#define OPERANDS 2
#define FLOATS 0
#endif
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"

#ifdef LEAST
#define WINNER(a, b) rp_min(a, b)
#else
#define WINNER(a, b) rp_max(a, b)
#endif
#if defined(LONG)
#include "common/i64.glsl"
#ifdef LEAST
#define IDENTITY uvec2(0xFFFFFFFFu, 0x7FFFFFFFu)
#else
#define IDENTITY uvec2(0u, 0x80000000u)
#endif
uvec2 combine(uvec2 a, uvec2 b) { return WINNER(a, b); }
#elif defined(INTEGER)
#define ELEMENT int
#define VECTOR4 ivec4
#define Elements Ints
#ifdef LEAST
#define IDENTITY 2147483647
#else
#define IDENTITY (-2147483647 - 1)
#endif
int combine(int a, int b) { return WINNER(a, b); }
#else
#define ELEMENT REAL
#define VECTOR4 REAL4
#define Elements Reals
#ifdef LEAST
#define IDENTITY rp_inf()
#else
#define IDENTITY (-rp_inf())
#endif
precise REAL combine(REAL a, REAL b) { return WINNER(a, b); }
precise REAL4 combine(REAL4 a, REAL4 b)
{
    return REAL4(WINNER(a.x, b.x), WINNER(a.y, b.y), WINNER(a.z, b.z), WINNER(a.w, b.w));
}
#endif
#include "common/reduce.glsl"
