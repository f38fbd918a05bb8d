// devices: Vulkan
// variants: gemm_matrix_f16: ; gemm_matrix_f16_large: -DLARGE ; gemm_matrix_f16_8: -DSIDE=8u
// variants: gemm_matrix_bf16: -DBF16 ; gemm_matrix_bf16_large: -DBF16 -DLARGE
// needs: gemm_matrix_f16: GL_KHR_cooperative_matrix ; gemm_matrix_f16_large: GL_KHR_cooperative_matrix
// needs: gemm_matrix_f16_8: GL_KHR_cooperative_matrix
// needs: gemm_matrix_bf16: GL_KHR_cooperative_matrix GL_EXT_bfloat16
// needs: gemm_matrix_bf16_large: GL_KHR_cooperative_matrix GL_EXT_bfloat16
#version 460
// C[b] = A[b] * B[b] for GPUs that multiply cooperative matrices (VK_KHR_cooperative_matrix): A and B are f16 or bf16,
// C is f32.  Any strides.
// Numeric class: a part (gemm_tile.comp) is a sum of products of SIDE steps of k each, in ascending order from 0.  The
// device decides how it adds such a product to the sum; it does the same each time.
//
// A group of four subgroups computes 64 rows x 64 columns, LARGE 128 x 128; each subgroup a quarter of it, in matrices
// of SIDE x SIDE.  A round takes 32 steps of k from one half of the shared memory, while the lanes load those of the
// next one.  Loads beyond an edge are clamped: rows and columns there are not stored, and steps of k there are 0.
//
//   constants  0, 1: A_LOADS, B_LOADS; 2: STORE_VECTORS, as in gemm_tile.comp; 3: the number of lanes
//   partial    [parts][batches][M][N], if parts > 1; part_length is then a multiple of 16
//   groups     parts * batches * ceil(M / 64) * ceil(N / 64), or of 128
//   requires   offsets below 2^31 elements; full subgroups
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#ifdef BF16
#extension GL_EXT_bfloat16 : require
#define NUMBER bfloat16_t
#else
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#define NUMBER float16_t
#endif
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/gemm.glsl"
#include "common/halves.glsl"
layout(local_size_x_id = 3) in;

RECORD(gemm_matrix)
INPUT(a) INPUT(b) OUTPUT(c) OUTPUT(partial) CHAIN_OPERANDS
MEMBER(GemmSizes, sizes) INT(parts) INT(part_length)
END_RECORD

#include "common/gemm_loads.glsl"

#ifndef SIDE
#define SIDE 16u
#endif
#ifdef LARGE
const uint ROWS = 128u;
#else
const uint ROWS = 64u;
#endif
const uint STEPS = 32u, QUARTER = ROWS / 2u, MATRICES = QUARTER / SIDE; // matrices along a side of a quarter
const uint LANES = gl_WorkGroupSize.x;

// A tile has its lines or its steps of k as rows, as they are in memory, in vectors of 4 elements; 16 bytes of padding
// avoid bank conflicts.
const uint PITCH_K = STEPS / 4u + 2u, PITCH_LINES = ROWS / 4u + 2u;
const uint VECTORS = max(ROWS * PITCH_K, STEPS * PITCH_LINES), LOADS = ROWS * STEPS / 4u / LANES;
shared uvec2 tile_a[2u * VECTORS], tile_b[2u * VECTORS];
shared float results[4u * SIDE * SIDE]; // a matrix of each subgroup

bool is_along_k(uint loads) { return loads == ALONG_K || loads == VECTORS_ALONG_K; }
// The (line, k) in the tile of the first of the four neighbours that a lane loads at once.
uvec2 neighbours(uint loads, uint i)
{
    const uint n = i * LANES + gl_LocalInvocationIndex;
    return is_along_k(loads) ? uvec2(n / (STEPS / 4u), n % (STEPS / 4u) * 4u)
                             : uvec2(n % (ROWS / 4u) * 4u, n / (ROWS / 4u));
}

struct Source {
    uvec2 address;
    uint first, line, lines, line_stride, k_stride; // line: the first one of the tile; lines: of the matrix
};

// Four elements of 16 bits; 0 for steps beyond K.
uvec2 load4(Source s, uint loads, uint i, uint block, uint K)
{
    const uvec2 at = neighbours(loads, i);
    const uint line = s.line + at.x, k = block + at.y;
    if (loads >= VECTORS_ALONG_K) {
        const uint last_line = s.lines - (loads == VECTORS_ALONG_LINES ? 4u : 1u);
        const uint last_k = K - (loads == VECTORS_ALONG_K ? 4u : 1u);
        return ReadHalves4(s.address).v[(s.first + min(line, last_line) * s.line_stride + min(k, last_k) * s.k_stride) / 4u];
    }
    const uvec2 step = is_along_k(loads) ? uvec2(0u, 1u) : uvec2(1u, 0u);
    uvec4 v;
    [[unroll]] for (uint e = 0u; e < 4u; ++e)
        v[e] = uint(ReadHalves(s.address).v[s.first + min(line + e * step.x, s.lines - 1u) * s.line_stride +
                                            min(k + e * step.y, K - 1u) * s.k_stride]);
    return uvec2(v.x | v.y << 16, v.z | v.w << 16);
}
uvec2 kept(uvec2 v, uint loads, uint i, uint block, uint K)
{
    const uint k = block + neighbours(loads, i).y;
    if (!is_along_k(loads) || loads == VECTORS_ALONG_K) return k < K ? v : uvec2(0u);
    const uint left = K - min(k, K); // steps before the end
    return uvec2(left > 1u ? v.x : left > 0u ? v.x & 0xFFFFu : 0u, left > 3u ? v.y : left > 2u ? v.y & 0xFFFFu : 0u);
}
uint place(uint loads, uint i)
{
    const uvec2 at = neighbours(loads, i);
    return is_along_k(loads) ? at.x * PITCH_K + at.y / 4u : at.y * PITCH_LINES + at.x / 4u;
}

#define MATRIX_A coopmat<NUMBER, gl_ScopeSubgroup, SIDE, SIDE, gl_MatrixUseA>
#define MATRIX_B coopmat<NUMBER, gl_ScopeSubgroup, SIDE, SIDE, gl_MatrixUseB>
#define MATRIX_C coopmat<float, gl_ScopeSubgroup, SIDE, SIDE, gl_MatrixUseAccumulator>
MATRIX_C sum[MATRICES][MATRICES];

// Adds the products of a round.  `row` and `column` are those of the subgroup's quarter.
void add_products(uint half_index, uint row, uint column)
{
    [[unroll]] for (uint k = 0u; k < STEPS; k += SIDE) {
        MATRIX_A a[MATRICES];
        [[unroll]] for (uint i = 0u; i < MATRICES; ++i) {
            const uint line = row + i * SIDE, from = half_index * VECTORS;
            if (is_along_k(A_LOADS))
                coopMatLoad(a[i], tile_a, from + line * PITCH_K + k / 4u, PITCH_K, gl_CooperativeMatrixLayoutRowMajor);
            else
                coopMatLoad(a[i], tile_a, from + k * PITCH_LINES + line / 4u, PITCH_LINES,
                            gl_CooperativeMatrixLayoutColumnMajor);
        }
        [[unroll]] for (uint j = 0u; j < MATRICES; ++j) {
            const uint line = column + j * SIDE, from = half_index * VECTORS;
            MATRIX_B b;
            if (is_along_k(B_LOADS))
                coopMatLoad(b, tile_b, from + line * PITCH_K + k / 4u, PITCH_K, gl_CooperativeMatrixLayoutColumnMajor);
            else
                coopMatLoad(b, tile_b, from + k * PITCH_LINES + line / 4u, PITCH_LINES,
                            gl_CooperativeMatrixLayoutRowMajor);
            [[unroll]] for (uint i = 0u; i < MATRICES; ++i) sum[i][j] = coopMatMulAdd(a[i], b, sum[i][j]);
        }
    }
}

void main()
{
    const Share share = share_of_group(ROWS, ROWS);
    if (!share.exists) return;
    const uint K = share.steps, N = record.sizes.n;
    const Source A = Source(record.a.address, share.first_a, share.tile.row, record.sizes.m, record.sizes.a_row_stride,
                            record.sizes.a_column_stride);
    const Source B = Source(record.b.address, share.first_b, share.tile.column, N, record.sizes.b_column_stride,
                            record.sizes.b_row_stride);
    const uint row = gl_SubgroupID / 2u * QUARTER, column = gl_SubgroupID % 2u * QUARTER;

    [[unroll]] for (uint i = 0u; i < MATRICES; ++i)
        [[unroll]] for (uint j = 0u; j < MATRICES; ++j) sum[i][j] = MATRIX_C(0.0);
    uvec2 a[LOADS], b[LOADS];
#define LOAD(block)                                                                                                     \
    for (uint i = 0u; i < LOADS; ++i) {                                                                                 \
        a[i] = load4(A, A_LOADS, i, block, K);                                                                          \
        b[i] = load4(B, B_LOADS, i, block, K);                                                                          \
    }
#define STORE_TO_TILES(half_index, block)                                                                               \
    for (uint i = 0u; i < LOADS; ++i) {                                                                                 \
        tile_a[(half_index) * VECTORS + place(A_LOADS, i)] = kept(a[i], A_LOADS, i, block, K);                          \
        tile_b[(half_index) * VECTORS + place(B_LOADS, i)] = kept(b[i], B_LOADS, i, block, K);                          \
    }
    if (K > 0u) {
        LOAD(0u)
        STORE_TO_TILES(0u, 0u)
    }
    barrier();
    uint half_index = 0u;
    for (uint block = 0u; block < K; block += STEPS) {
        const bool more = block + STEPS < K;
        if (more) { LOAD(block + STEPS) }
        add_products(half_index, row, column);
        half_index = 1u - half_index;
        if (more) { STORE_TO_TILES(half_index, block + STEPS) }
        barrier();
    }

    // Each subgroup's matrices go through shared memory, one after the other, as the place of their elements in a lane
    // is not known.
    const uint lane = gl_SubgroupInvocationID, first = gl_SubgroupID * SIDE * SIDE;
    [[dont_unroll]] for (uint matrix = 0u; matrix < MATRICES * MATRICES; ++matrix) {
        [[unroll]] for (uint i = 0u; i < MATRICES; ++i)
            [[unroll]] for (uint j = 0u; j < MATRICES; ++j)
                if (matrix == i * MATRICES + j)
                    coopMatStore(sum[i][j], results, first, SIDE, gl_CooperativeMatrixLayoutRowMajor);
        barrier();
        const uint first_row = share.tile.row + row + matrix / MATRICES * SIDE;
        const uint first_column = share.tile.column + column + matrix % MATRICES * SIDE;
        for (uint e = lane * 4u; e < SIDE * SIDE; e += gl_SubgroupSize * 4u) {
            const uint r = first_row + e / SIDE, c = first_column + e % SIDE, at = share.first_c + r * share.row_stride + c;
            const vec4 v = vec4(results[first + e], results[first + e + 1u], results[first + e + 2u], results[first + e + 3u]);
            if (r >= record.sizes.m) continue;
#ifdef CHAIN
            if (share.whole) {
                store_finished(at, c, N, v);
                continue;
            }
#endif
            store4(share.to, at, c, N, v);
        }
        barrier();
    }
}
