// The second launch of a product of matrices that workgroups shared by chunks of K: adds the chunks' sums in order,
// starting at +0, which gives the bits of one workgroup (common/gemm.glsl).
//
//   operands   partial [chunks][M][N], C [M][N] with rows of ldc
//   ints       M, N, chunks, ldc
//   groups     ceil(M * N / 64)
#version 460
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 2
#define FLOATS 0
#include "common/abi.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;

void main()
{
    Floats partial = Floats(record.operand[0].address), C = Floats(record.operand[1].address);
    const uint M = record.n[0], N = record.n[1], chunks = record.n[2], ldc = record.n[3];
    const uint element = flat_group() * 64u + gl_LocalInvocationID.x;
    if (element >= M * N) return;
    precise float total = 0.0;
    for (uint chunk = 0u; chunk < chunks; ++chunk) total += partial.v[chunk * M * N + element];
    const uint row = quotient(element, N);
    C.v[row * ldc + element - row * N] = total;
}
