#version 460
// y[i] = weight[indices[i]]; where there is no such row the bits that the launch gives.
//
//   operands   indices (i32), weight, y (contiguous)
//   ints       N, D, rows of weight, stride of indices, strides of weight (row, column), the bits of an element of
//              an unknown row: of 64-bit elements two ints, the low one first
//   groups     ceil(N * ceil(D / 4) / 64): an invocation makes 4 elements
//   TEXELS     D and the row stride are multiples of 4, the column stride is 1
// variants: embedding: ; embedding_texel: -DTEXELS ; embedding_wide: -DWIDE
#define OPERANDS 3
#define FLOATS 0
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"

layout(local_size_x = 64) in;

void main()
{
    const uint count = uint(record.n[0]), length = uint(record.n[1]), rows = uint(record.n[2]);
    const int index_stride = record.n[3], row_stride = record.n[4], column_stride = record.n[5];
#ifdef WIDE
    const CELL unknown = uvec2(record.n[6], record.n[7]);
#else
    const CELL unknown = uint(record.n[6]);
#endif
    const Operand indices = record.operand[0], weight = record.operand[1], y = record.operand[2];
    const uint quads = (length + 3u) / 4u;
    const uint quad = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (quad >= count * quads)
        return;
    const uint i = quotient(quad, quads), column = (quad - i * quads) * 4u;
    const uint row = uint(Ints(indices.address).v[int(i) * index_stride]); // below 0 is above
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
