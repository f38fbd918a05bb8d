// Rows of which an operand may be f16 or bf16: contiguous, their length and the index of their first element multiples
// of 4.
// With GROUP, kernels without DTYPES have operands of f32 only, as CUDA does not know their dtypes when it compiles
// them. Needs rows.glsl.
#if !defined(GROUP)
#define DTYPES
#endif
#ifndef DTYPES
#define load4_as(row, e, n, dtype) load4(row, e, n)
#define store4_result_as(row, e, n, dtype, v) store4_result(row, e, n, v)
#define copy4_as(copy, row, e, dtype, v)
#else
#include "common/dtypes.glsl"

// Returns the number of the four that begins with element e.
uint four_at(Row row, uint e)
{
#if defined(TEXELS) || defined(VEC4)
    return row.at + e / 4u;
#else
    return (row.at + e) / 4u;
#endif
}
vec4 load4_as(Row row, uint e, uint n, uint dtype)
{
    vec4 v;
    if (dtype == DTYPE_F32) v = load4(row, e, n);
    else v = floats_of(load4_bits(row.operand.address, dtype, four_at(row, e)), dtype);
    return v;
}
void store4_result_as(Row row, uint e, uint n, uint dtype, vec4 v)
{
    if (dtype == DTYPE_F32) store4_result(row, e, n, v);
    else store4_bits(row.operand.address, dtype, four_at(row, e), bits_of(v, dtype));
}
// Stores elements of the row in f16 or bf16 to a second tensor; f32: there is none.
void copy4_as(Operand copy, Row row, uint e, uint dtype, vec4 v)
{
    if (dtype != DTYPE_F32)
        store4_bits(copy.address, dtype, four_at(row, e), bits_of(v, dtype));
}
#endif
