// variants: dequantize: ; dequantize_rows: -DROWS
#version 460
// Computes `width` elements, from column `first_column` on, of `count` rows of a matrix of common/quantized.glsl.
// These are the rows from `first_row` on, or with ROWS those with the given indices; rows out of range are NaN.
//
//   q          the matrix;  y [count, width] is contiguous, width and first_column are multiples of 4
//   indices    i32, contiguous
//   rows, columns  of the matrix
//   constant   0: the format
//   groups     ceil(count * width / 4 / 64): an invocation writes 4 elements
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/vocabulary.glsl"
#define FORMAT_CONSTANT 0
#include "common/quantized.glsl"
layout(local_size_x = 64) in;

RECORD(dequantize)
INPUT(q) INPUT(indices) OUTPUT(y)
INT(count) INT(width) INT(first_row) INT(first_column) INT(rows) INT(columns)
END_RECORD

void main()
{
    const uint count = uint(record.count), width = uint(record.width), columns = uint(record.columns);
    const uint at = (flat_group() * 64u + gl_LocalInvocationID.x) * 4u;
    if (at >= count * width) return;
    const uint i = quotient(at, width);
#ifdef ROWS
    const uint index = uint(Ints(record.indices.address).v[i]); // negative indices become large ones
    const bool known = index < uint(record.rows);
    const uint row = known ? index : 0u;
#else
    const uint row = uint(record.first_row) + i;
#endif
    vec4 v = uintBitsToFloat(uvec4(0x7FC00000u));
#ifdef ROWS
    if (known) // there may be no row
#endif
        v = dequantized_four(record.q.address, row * columns + uint(record.first_column) + at - i * width, columns);
    Vec4s(record.y.address).v[at / 4u] = v;
}
