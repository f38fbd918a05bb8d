#version 460
// c = a b for matrices of i8 of any strides: exact sums in i32, which wrap around.
//
//   c          contiguous
//   groups     ceil(m * ceil(n / 4) / 64): an invocation computes 4 elements of a row
// A round of the loop takes 4 steps of k, as lavapipe ends loops after 65,535 rounds.
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/vocabulary.glsl"
#include "common/dtypes.glsl"
layout(local_size_x = 64) in;

RECORD(int_mm)
INPUT(a) INPUT(b) OUTPUT(c)
INT(m) INT(n) INT(k)
INT(a_row_stride) INT(a_column_stride) INT(b_row_stride) INT(b_column_stride)
END_RECORD

int element(uvec2 address, int at) { return extended(load_bits(address, DTYPE_I8, uint(at)), DTYPE_I8); }

void main()
{
    const uint m = uint(record.m), n = uint(record.n), steps = uint(record.k);
    const uvec2 A = record.a.address, B = record.b.address;
    const uint quads = (n + 3u) / 4u, quad = flat_group() * 64u + gl_LocalInvocationID.x;
    if (quad >= m * quads) return;
    const uint row = quotient(quad, quads), column = (quad - row * quads) * 4u;
    const int from_a = int(row) * record.a_row_stride;
    ivec4 from_b;
    [[unroll]] for (uint j = 0u; j < 4u; ++j) from_b[j] = int(min(column + j, n - 1u)) * record.b_column_stride;
    ivec4 sum = ivec4(0);
    for (uint first = 0u; first < steps; first += 4u) {
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            const int k = int(min(first + i, steps - 1u));
            const int x = first + i < steps ? element(A, from_a + k * record.a_column_stride) : 0;
            [[unroll]] for (uint j = 0u; j < 4u; ++j) sum[j] += x * element(B, from_b[j] + k * record.b_row_stride);
        }
    }
    for (uint j = 0u; j < min(n - column, 4u); ++j) Ints(record.c.address).v[row * n + column + j] = sum[j];
}
