// devices: Vulkan
#version 460
// C[b] = A[b] * B[b] for GPUs: tiles in shared memory, loads by address, any strides.
// Bits: common/gemm.glsl.
//
// A group of 256 lanes makes 64 rows x 64 columns, each lane 4 x 4, from blocks of 16 steps of k.
//
//   operands   A, B, C
//   ints       M, N, K, rsA, rsB, ldc, batch, strideA, strideB, strideC, csA, csB, inners, innerA, innerB,
//              innerC     (elements)
//              rs and cs are the strides from row to row and from column to column; a batch is of
//              batch / inners batches of `inners` matrices: stride and inner lead from one to the next
//   groups     batch * ceil(M / 64) * ceil(N / 64)
//   requires   offsets below 2^31 elements
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 3
#define FLOATS 0
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/gemm.glsl"
layout(local_size_x = 256) in;

const uint SIDE = 64u;  // of a tile
const uint STEPS = 16u; // of k in a block
// [k][4 rows of A or columns of B]; one more keeps lanes that write along k out of each other's banks
shared vec4 a_tile[STEPS][SIDE / 4u + 1u], b_tile[STEPS][SIDE / 4u + 1u];

// Which element of a block a lane loads in its i-th turn: neighbours load along the unit stride.
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
    Record r = record;
    const uint M = r.n[0], N = r.n[1], K = r.n[2];
    const int rsA = r.n[3], rsB = r.n[4], ldc = r.n[5], batches = r.n[6];
    const int strideA = r.n[7], strideB = r.n[8], strideC = r.n[9], csA = r.n[10], csB = r.n[11];
    Floats A = Floats(r.operand[0].address), B = Floats(r.operand[1].address);
    Floats C = Floats(r.operand[2].address);

    const Tile tile = tile_of(flat_group(), M, N, SIDE, SIDE);
    if (int(tile.batch) >= batches)
        return;
    const Batch batch = batch_of(tile.batch, r.n[12]);
    const int outer = int(batch.outer), inner = int(batch.inner);
    const int first_a = outer * strideA + inner * r.n[13], first_b = outer * strideB + inner * r.n[14];
    const int first_c = outer * strideC + inner * r.n[15];
    const uint lane_row = gl_LocalInvocationIndex / 16u; // rows and columns of a lane: counted in fours
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
