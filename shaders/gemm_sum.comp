// The second launch of a split-K matrix product, whose workgroups each compute some chunks of K: adds the chunks' sums
// in order, starting at +0 (common/gemm.glsl, gemm_tile.comp).
//
//   partial    [chunks][batches][rows][columns]; c [batches / inners][inners][rows][columns]
//   groups     ceil(batches * rows * columns / 64)
// variants: gemm_sum:
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/gemm.glsl"
layout(local_size_x = 64) in;

RECORD(gemm_sum)
INPUT(partial) OUTPUT(c) CHAIN_OPERANDS
INT(rows) INT(columns) INT(chunks) INT(row_stride)
INT(batches) INT(inners) INT(outer_stride) INT(inner_stride)
END_RECORD

void main()
{
    Floats partial = Floats(record.partial.address), c = Floats(record.c.address);
    const uint rows = record.rows, columns = record.columns, chunks = record.chunks;
    const uint count = record.batches * rows * columns;
    const uint element = flat_group() * 64u + gl_LocalInvocationID.x;
    if (element >= count) return;
    precise float total = 0.0;
    for (uint chunk = 0u; chunk < chunks; ++chunk) total += partial.v[chunk * count + element];
    const uint line = quotient(element, columns), matrix = quotient(line, rows);
    const Batch batch = batch_of(matrix, record.inners);
    const uint first = batch.outer * record.outer_stride + batch.inner * record.inner_stride;
    const uint column = element - line * columns, at = first + (line - matrix * rows) * record.row_stride + column;
#ifdef CHAIN // kernels/fused_text.cpp: finish() computes a chain of the element and stores its results
    finish(at, column, total);
#else
    c.v[at] = total;
#endif
}
