#version 460
// y[i] = weight[indices[i]]; rows out of range are filled with the bits `unknown`.
//
//   indices    i32; y [count, columns] is contiguous
//   unknown    the bits of an element of a row out of range; for 64-bit elements two ints, the low one first
//   groups     ceil(count * ceil(columns / 4) / 64): an invocation writes 4 elements
//   TEXELS     columns and the row stride are multiples of 4, the column stride is 1
// variants: embedding: ; embedding_texel: -DTEXELS ; embedding_wide: -DWIDE
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"

layout(local_size_x = 64) in;

RECORD(embedding)
INPUT(indices) INPUT(weight) OUTPUT(y)
INT(count) INT(columns) INT(rows) INT(index_stride) INT(row_stride) INT(column_stride)
LIST(unknown)
END_RECORD

void main()
{
    const uint count = uint(record.count), length = uint(record.columns), rows = uint(record.rows);
    const int index_stride = record.index_stride, row_stride = record.row_stride;
    const int column_stride = record.column_stride;
#ifdef WIDE
    const CELL unknown = uvec2(record.lists[0], record.lists[1]);
#else
    const CELL unknown = uint(record.lists[0]);
#endif
    const Operand indices = record.indices, weight = record.weight, y = record.y;
    const uint quads = (length + 3u) / 4u;
    const uint quad = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (quad >= count * quads)
        return;
    const uint i = quotient(quad, quads), column = (quad - i * quads) * 4u;
    const uint row = uint(Ints(indices.address).v[int(i) * index_stride]); // negative indices become large ones
    const bool known = row < rows;
    const uint from = known ? row : 0u;
#ifdef TEXELS
    const REAL4 v = texelFetch(slab, int(weight.texel + from * uint(row_stride / 4) + column / 4u));
    slab_window[WINDOW_OF(y.texel)].v[IN_WINDOW(y.texel) + quad] = known ? v : uintBitsToFloat(uvec4(unknown));
#else
    Cells w = Cells(weight.address), to = Cells(y.address);
    for (uint c = column; c < min(column + 4u, length); ++c)
        to.v[i * length + c] = known ? w.v[int(from) * row_stride + int(c) * column_stride] : unknown;
#endif
}
