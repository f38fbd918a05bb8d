// devices: Vulkan
#version 460
// C[b] = A[b] * B[b] for GPUs: tiles in shared memory, loads by address, any strides.
// Numeric class: common/gemm.glsl.
//
// A group of 256 lanes computes 64 rows x 64 columns, each lane 4 x 4, in blocks of 16 steps of k.
//
//   strides    in elements; the columns of C are contiguous
//   batches    batches / inners times `inners` matrices, with an outer and an inner stride
//   groups     batches * ceil(M / 64) * ceil(N / 64)
//   requires   offsets below 2^31 elements
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/gemm.glsl"
layout(local_size_x = 256) in;

RECORD(gemm_tile)
INPUT(a) INPUT(b) OUTPUT(c)
INT(m) INT(n) INT(k) INT(a_row_stride) INT(b_row_stride) INT(c_row_stride)
INT(batches) INT(a_outer_stride) INT(b_outer_stride) INT(c_outer_stride)
INT(a_column_stride) INT(b_column_stride)
INT(inners) INT(a_inner_stride) INT(b_inner_stride) INT(c_inner_stride)
END_RECORD

const uint SIDE = 64u;  // rows and columns per tile
const uint STEPS = 16u; // k per block
// [k][4 rows of A or columns of B]; the padding of one avoids bank conflicts between lanes that write along k.
shared vec4 a_tile[STEPS][SIDE / 4u + 1u], b_tile[STEPS][SIDE / 4u + 1u];

// Returns the element of a block that a lane loads in iteration i: neighbouring lanes load along the unit stride.
uvec2 element_of(uint i, bool along_k) // (row of A or column of B, k)
{
    const uint n = i * 256u + gl_LocalInvocationIndex;
    return along_k ? uvec2(n / STEPS, n % STEPS) : uvec2(n % SIDE, n / SIDE);
}

#define CLEAR(row) sum[row] = total[row] = vec4(0.0);
#define MULTIPLY(row) sum[row] += a[row] * b;
#define END(row) total[row] += sum[row];
#define CLEAR_SUM(row) sum[row] = vec4(0.0);

void main()
{
    const uint M = record.m, N = record.n, K = record.k;
    const int rsA = record.a_row_stride, rsB = record.b_row_stride, ldc = record.c_row_stride;
    const int batches = record.batches;
    const int strideA = record.a_outer_stride, strideB = record.b_outer_stride, strideC = record.c_outer_stride;
    const int csA = record.a_column_stride, csB = record.b_column_stride;
    Floats A = Floats(record.a.address), B = Floats(record.b.address);
    Floats C = Floats(record.c.address);

    const Tile tile = tile_of(flat_group(), M, N, SIDE, SIDE);
    if (int(tile.batch) >= batches)
        return;
    const Batch batch = batch_of(tile.batch, record.inners);
    const int outer = int(batch.outer), inner = int(batch.inner);
    const int first_a = outer * strideA + inner * record.a_inner_stride;
    const int first_b = outer * strideB + inner * record.b_inner_stride;
    const int first_c = outer * strideC + inner * record.c_inner_stride;
    const uint lane_row = gl_LocalInvocationIndex / 16u; // rows and columns of a lane, in units of four
    const uint lane_column = gl_LocalInvocationIndex % 16u;

    precise vec4 sum[4], total[4];
    EACH_4(CLEAR)
    for (uint block = 0u; block < K; block += STEPS) {
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            const uvec2 e = element_of(i, csA == 1);
            const uint row = tile.row + e.x, k = block + e.y;
            float x = 0.0; // beyond the edge
            if (row < M && k < K)
                x = A.v[first_a + int(row) * rsA + int(k) * csA];
            a_tile[e.y][e.x / 4u][e.x % 4u] = x;
        }
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            const uvec2 e = element_of(i, csB != 1);
            const uint column = tile.column + e.x, k = block + e.y;
            float x = 0.0;
            if (column < N && k < K)
                x = B.v[first_b + int(k) * rsB + int(column) * csB];
            b_tile[e.y][e.x / 4u][e.x % 4u] = x;
        }
        barrier();
        for (uint step = 0u; step < STEPS; ++step) {
            const vec4 a = a_tile[step][lane_row], b = b_tile[step][lane_column];
            EACH_4(MULTIPLY)
        }
        barrier();
        if ((block + STEPS) % CHUNK == 0u) {
            EACH_4(END)
            EACH_4(CLEAR_SUM)
        }
    }
    EACH_4(END)

    const uint first_row = tile.row + lane_row * 4u, first_column = tile.column + lane_column * 4u;
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
        [[unroll]] for (uint j = 0u; j < 4u; ++j) {
            const uint row = first_row + i, column = first_column + j;
            if (row < M && column < N)
                C.v[first_c + int(row) * ldc + int(column)] = total[i][j];
        }
    }
}
