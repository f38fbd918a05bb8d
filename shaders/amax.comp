#version 460
// The largest of f32 or i32; NaN is the largest.  common/reduce.glsl has all but the operation.
// variants: amax: ; amax_rows: -DROWS ; amax_rows_texel: -DROWS -DTEXELS
// variants: amax_columns: -DCOLUMNS ; amax_columns_texel: -DCOLUMNS -DTEXELS ; amax_partials: -DPARTIALS
// variants: amax_i32: -DINTEGER ; amax_i32_partials: -DINTEGER -DPARTIALS
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

#ifdef INTEGER
#define ELEMENT int
#define VECTOR4 ivec4
#define Elements Ints
#define IDENTITY (-2147483647 - 1)
int combine(int a, int b) { return rp_max(a, b); }
#else
#define ELEMENT float
#define VECTOR4 vec4
#define Elements Floats
#define IDENTITY (-rp_inf())
precise float combine(float a, float b) { return rp_max(a, b); }
precise vec4 combine(vec4 a, vec4 b)
{
    return vec4(rp_max(a.x, b.x), rp_max(a.y, b.y), rp_max(a.z, b.z), rp_max(a.w, b.w));
}
#endif
#include "common/reduce.glsl"
