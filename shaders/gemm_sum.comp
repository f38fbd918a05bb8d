// The second launch of a split-K matrix product, whose workgroups each compute some chunks of K: adds the chunks' sums
// in order, starting at +0, which produces the same bits as one workgroup (common/gemm.glsl).
//
//   partial    [chunks][rows][columns]; c [rows][columns]
//   groups     ceil(rows * columns / 64)
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;

RECORD(gemm_sum)
INPUT(partial) OUTPUT(c)
INT(rows) INT(columns) INT(chunks) INT(row_stride)
END_RECORD

void main()
{
    Floats partial = Floats(record.partial.address), c = Floats(record.c.address);
    const uint rows = record.rows, columns = record.columns, chunks = record.chunks;
    const uint row_stride = record.row_stride;
    const uint element = flat_group() * 64u + gl_LocalInvocationID.x;
    if (element >= rows * columns) return;
    precise float total = 0.0;
    for (uint chunk = 0u; chunk < chunks; ++chunk) total += partial.v[chunk * rows * columns + element];
    const uint row = quotient(element, columns);
    c.v[row * row_stride + element - row * columns] = total;
}
