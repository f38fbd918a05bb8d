// devices: Vulkan
// variants: gemm_texel_nn: ; gemm_texel_tn: -DA_TRANSPOSED ; gemm_texel_nn_turned: -DC_TRANSPOSED
// variants: gemm_texel_nn_half: -DHALVES ; gemm_texel_tn_half: -DA_TRANSPOSED -DHALVES
// variants: gemm_texel_nn_turned_half: -DC_TRANSPOSED -DHALVES
// variants: gemm_texel_quantized_nn: -DQUANTIZED ; gemm_texel_quantized_nt: -DQUANTIZED -DB_TRANSPOSED
// variants: gemm_texel_quantized_nn_half: -DQUANTIZED -DHALVES
// variants: gemm_texel_quantized_nt_half: -DQUANTIZED -DB_TRANSPOSED -DHALVES
#version 460
// C[b] = A[b] * B[b] for lavapipe: texel loads, subgroups of 8 lanes, no barriers. Numeric class: common/gemm.glsl.
//
// A group is one subgroup. It computes 16 rows x 32 columns, each lane 16 rows x 4 columns. One lane loads a texel of A
// and passes it to all by a shuffle from a constant lane (a subgroupBroadcast would be a loop).
//
//   strides    between rows of A, B and C as they are stored; the column strides are not read
//   constants  0: EVEN, promises that K is a multiple of 16, N and C's strides are multiples of 4, C starts on
//              16 bytes;  1: ONE_CHUNK, promises that K is at most CHUNK
//   groups     batches * ceil(M / 16) * ceil(N / 32)
//   A          stored as [M][K];  with A_TRANSPOSED as [K][M]
//   B          stored as [K][N];  with QUANTIZED a matrix of common/quantized.glsl, with B_TRANSPOSED as [N][K]
//   requires   A and B (QUANTIZED: A) in the slab, 16-byte aligned;  their strides multiples of 4, and rows readable up
//              to the next multiple of 4 (the contents are ignored);  C in the slab and in one window, unless N, one
//              of its strides or its start is no multiple of 4 floats: then C may be anywhere
//              C_TRANSPOSED: C is stored as [N][M], and M, its strides and its start are multiples of 4 floats
//   HALVES     A and B are f16 or bf16, 8-byte aligned: a half of a texel has four elements.  With SINGLE_A or SINGLE_B
//              one of them is f32.  C is f32 or, with NARROWS, in the dtype of halves, and consists of such fours: then
//              it may be anywhere.  With NARROWS and BIASED the sums are rounded after bias, [N] in that dtype and
//              8-byte aligned, is added.  With QUANTIZED only A is so, and C is f32
//
// lavapipe never jumps over code: an untaken branch, and the iteration that fails the test at the top of a loop, run
// with all lanes off. So the big loop is a do-while loop, and rarely needed code is small and omitted with EVEN.
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#define SLAB
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/gemm.glsl"
#ifdef QUANTIZED
#include "common/vocabulary.glsl"
#define FORMAT_CONSTANT 2
#include "common/quantized.glsl"
#endif
layout(local_size_x = 8) in;
layout(constant_id = 0) const bool EVEN = false;
layout(constant_id = 1) const bool ONE_CHUNK = false;
#ifdef HALVES
#ifdef QUANTIZED
#define WIDENING_CONSTANT 3
const bool NARROWS = false, BIASED = false, SINGLE_A = false;
#else
#define WIDENING_CONSTANT 2
layout(constant_id = 3) const bool NARROWS = false;
layout(constant_id = 4) const bool BIASED = false;
layout(constant_id = 5) const bool SINGLE_A = false;
layout(constant_id = 6) const bool SINGLE_B = false;
#endif
#include "common/widening.glsl"
#include "common/narrowing.glsl"
// Fours of halves are halves of texels.
#define FIRST_OF(operand, single)                                                                  \
    (single ? operand.texel : operand.texel * 2u + operand.address.x / 8u % 2u)
vec4 four(uint at, bool single)
{
    if (single) return texelFetch(slab, int(at));
    const uvec4 eight = floatBitsToUint(texelFetch(slab, int(at / 2u)));
    return widened(at % 2u == 0u ? eight.xy : eight.zw);
}
#else
#define FIRST_OF(operand, single) operand.texel
#define four(at, single) texelFetch(slab, int(at))
#endif

RECORD(gemm_texel_nn)
INPUT(a) INPUT(b) OUTPUT(c) INPUT(bias)
MEMBER(GemmSizes, sizes)
END_RECORD

const uint ROWS = 16u, COLUMNS = 32u; // per tile
const uint STEPS = 16u;               // k per block of loads: a fetch is a call, which spills live registers

#ifdef A_TRANSPOSED
// Lanes 0 to 3 load the rows of one k, and lanes 4 to 7 those of the next.
#define A_OF(row, step) subgroupShuffle(a[(step) / 2][(row) % 4], (row) / 4 + (step) % 2 * 4)
#define LOAD_A(i) a[i] = four(a_at + i * 2u * lda4, SINGLE_A);
#define NEXT_A a_at += STEPS * lda4;
#define LOAD_LAST_A const vec4 a = four(a_column + k * lda4, SINGLE_A);
#define LAST_A_OF(row) subgroupShuffle(a[(row) % 4], (row) / 4)
#else
// Lane i loads rows i and 8 + i, four k at a time.
#define A_OF(row, step) subgroupShuffle(a[(row) / 8 * 4 + (step) / 4][(step) % 4], (row) % 8)
#define LOAD_A(i) a[i] = four(a_at[i / 4] + i % 4, SINGLE_A);
#define NEXT_A a_at += STEPS / 4u;
#define LOAD_LAST_A                                                                                \
    const uvec2 a_last = a_at + (k - whole) / 4u;                                                  \
    const vec2 a = vec2(four(a_last[0], SINGLE_A)[k % 4u], four(a_last[1], SINGLE_A)[k % 4u]);
#define LAST_A_OF(row) subgroupShuffle(a[(row) / 8], (row) % 8)
#endif
#if !defined(QUANTIZED)
#define LOAD_B(step) b[step] = four(b_at + step * ldb4, SINGLE_B);
#define LOADS_OF_B EACH_16(LOAD_B)
#define LOAD_LAST_B const vec4 b = four(b_at, SINGLE_B);
#define NEXT_B(steps) b_at += steps * ldb4;
#elif defined(B_TRANSPOSED)
// The index of element (k, c) of a lane's four columns is b_at[c] + k.  16 steps from a multiple of 16 on have one
// scale.
#define LOAD_B_FOUR(c, i)                                                                          \
    {                                                                                              \
        const vec4 four = dequantized(bytes[i], scale, first + i * 4u);                            \
        b[i * 4][c] = four[0];                                                                     \
        b[i * 4 + 1][c] = four[1];                                                                 \
        b[i * 4 + 2][c] = four[2];                                                                 \
        b[i * 4 + 3][c] = four[3];                                                                 \
    }
#define LOAD_B(c)                                                                                  \
    {                                                                                              \
        const uint first = b_at[c] + k;                                                            \
        const Scale scale = scale_of(load_scale(B, first, K), first);                              \
        const uvec4 bytes = load_sixteen(B, first, K);                                             \
        LOAD_B_FOUR(c, 0) LOAD_B_FOUR(c, 1) LOAD_B_FOUR(c, 2) LOAD_B_FOUR(c, 3)                    \
    }
#define LOADS_OF_B EACH_4(LOAD_B)
#define LAST_B(c) dequantized_one(B, b_at[c] + k, K)
#define LOAD_LAST_B const vec4 b = vec4(LAST_B(0), LAST_B(1), LAST_B(2), LAST_B(3));
#else
// The index of element (k, 0) of a lane's four columns is b_at + k * N.  The 32 columns of a tile have one scale for
// each k: lane i loads those of steps i and 8 + i.
#define SCALE_OF(i) scale_of(load_scale(B, tile.column + (k + i) * N, N), tile.column + (k + i) * N)
#define LOAD_B(step)                                                                               \
    {                                                                                              \
        const uint e = b_at + (k + step) * N;                                                      \
        const Scale scale = Scale(subgroupShuffle(scales[(step) / 8].scale, (step) % 8),           \
                                  subgroupShuffle(scales[(step) / 8].minimum, (step) % 8));        \
        b[step] = dequantized(joined(load_four(B, e, N), e), scale, e);                            \
    }
#define LOADS_OF_B                                                                                 \
    const Scale scales[2] = {SCALE_OF(lane), SCALE_OF(lane + 8u)};                                 \
    EACH_16(LOAD_B)
#define LOAD_LAST_B const vec4 b = dequantized_four(B, b_at + k * N, N);
#endif
#ifdef QUANTIZED
#define NEXT_B(steps)
#endif

#define CLEAR(row) sum[row] = total[row] = vec4(0.0);
#define MULTIPLY(row, step) sum[row] += A_OF(row, step) * b[step];
// Processes four rows at a time, so that their sums stay in registers.
#define MULTIPLY_4(row, step)                                                                      \
    MULTIPLY(row, step) MULTIPLY(row + 1, step) MULTIPLY(row + 2, step) MULTIPLY(row + 3, step)
#define FOUR_STEPS(row, step)                                                                      \
    MULTIPLY_4(row, step) MULTIPLY_4(row, step + 1) MULTIPLY_4(row, step + 2) MULTIPLY_4(row, step + 3)
#define FOUR_ROWS(row) FOUR_STEPS(row, 0) FOUR_STEPS(row, 4) FOUR_STEPS(row, 8) FOUR_STEPS(row, 12)
#define END_CHUNK(row)                                                                             \
    if (!ONE_CHUNK && full) {                                                                      \
        total[row] += sum[row];                                                                    \
        sum[row] = vec4(0.0);                                                                      \
    }
#define MULTIPLY_LAST(row) sum[row] += LAST_A_OF(row) * b;
#define END(row) total[row] = ONE_CHUNK ? sum[row] : total[row] + sum[row];

// Stores four elements, `four` fours after the tile's first one.
#define STORE_IN_SLAB(four, value) slab_window[WINDOW_OF(C)].v[IN_WINDOW(c_texel) + four] = value
#ifdef HALVES
vec4 biased(vec4 sums, uint column) // of the columns from `column` on, a multiple of 4
{
    precise const vec4 all = sums + widened(Longs(record.bias.address).v[column / 4u]);
    return all;
}
#define STORE_FOUR(four, column, value)                                                            \
    if (NARROWS) {                                                                                 \
        vec4 sums = value;                                                                         \
        if (BIASED) sums = biased(sums, column);                                                   \
        Longs(record.c.address).v[c_at / 4u + four] = narrowed(sums);                              \
    } else STORE_IN_SLAB(four, value);
#else
#define STORE_FOUR(four, column, value) STORE_IN_SLAB(four, value);
#endif
#ifdef C_TRANSPOSED
#define C_AT(row, column) ((column) * ldc + (row))
#define STORE_TEXEL(c, row)                                                                        \
    if (row < rows && column + c < N) {                                                            \
        STORE_FOUR((c * ldc + row) / 4u, first_row + row,                                          \
                   vec4(total[row][c], total[row + 1][c], total[row + 2][c], total[row + 3][c]))   \
    }
#define STORE(c) STORE_TEXEL(c, 0u) STORE_TEXEL(c, 4u) STORE_TEXEL(c, 8u) STORE_TEXEL(c, 12u)
#else
#define C_AT(row, column) ((row) * ldc + (column))
#define STORE(row)                                                                                 \
    if (row < rows && column < N) {                                                                \
        STORE_FOUR(row * (ldc / 4u), column, total[row])                                           \
    }
#define STORE_SCALAR(i)                                                                            \
    if (column + i < N)                                                                            \
        c_floats.v[c_at + i] = total[0][i];
#define MOVE_UP(row) total[row] = total[(row + 1) % 16];
#endif

void main()
{
    const uint M = record.sizes.m, N = record.sizes.n, K = record.sizes.k;
    const uint lda4 = uint(record.sizes.a_row_stride) / 4u;
    const uint ldc = record.sizes.c_row_stride, batches = record.sizes.batches, strideC = record.sizes.c_outer_stride;
    const uint inners = record.sizes.inners, innerC = record.sizes.c_inner_stride;
    const uint strideA4 = uint(record.sizes.a_outer_stride) / 4u, innerA4 = uint(record.sizes.a_inner_stride) / 4u;
    const uint A = FIRST_OF(record.a, SINGLE_A), C = record.c.texel;
#ifdef QUANTIZED
    const uvec2 B = record.b.address;
#else
    const uint ldb4 = uint(record.sizes.b_row_stride) / 4u, strideB4 = uint(record.sizes.b_outer_stride) / 4u;
    const uint innerB4 = uint(record.sizes.b_inner_stride) / 4u, B = FIRST_OF(record.b, SINGLE_B);
#endif

    const Tile tile = tile_of(flat_group(), M, N, ROWS, COLUMNS);
    if (tile.batch >= batches)
        return;
    const Batch batch = batch_of(tile.batch, inners);
    const uint lane = gl_SubgroupInvocationID;
    const uint column = tile.column + lane * 4u;

    // Rows and columns beyond the edge read the last one instead and are not stored.
#ifdef A_TRANSPOSED
    const uint a_column = A + batch.outer * strideA4 + batch.inner * innerA4 + min(tile.row / 4u + lane % 4u, (M - 1u) / 4u);
    uint a_at = a_column + lane / 4u * lda4;
#else
    const uvec2 a_row = min(tile.row + lane + uvec2(0u, 8u), uvec2(M - 1u));
    uvec2 a_at = A + batch.outer * strideA4 + batch.inner * innerA4 + a_row * lda4;
#endif
#if !defined(QUANTIZED)
    uint b_at = B + batch.outer * strideB4 + batch.inner * innerB4 + min(column / 4u, (N - 1u) / 4u);
#elif defined(B_TRANSPOSED)
    const uvec4 b_at = min(column + uvec4(0u, 1u, 2u, 3u), uvec4(N - 1u)) * K;
#else
    const uint b_at = min(column, N - 4u);
#endif

    precise vec4 sum[ROWS], total[ROWS];
    EACH_16(CLEAR)
    uint k = 0u;
    const uint whole = EVEN ? K : K - K % STEPS;
    if (whole > 0u) {
        do {
            const uint end = min(k + CHUNK, whole);
            do {
                vec4 a[8], b[STEPS];
                EACH_8(LOAD_A)
                LOADS_OF_B
                NEXT_A
                NEXT_B(STEPS)
                FOUR_ROWS(0) FOUR_ROWS(4) FOUR_ROWS(8) FOUR_ROWS(12)
                k += STEPS;
            } while (k < end);
            const bool full = k % CHUNK == 0u;
            EACH_16(END_CHUNK)
        } while (k < whole);
    }
    if (!EVEN) {
        for (; k < K; ++k) { // at most 15, all in one chunk since CHUNK % STEPS is 0
            LOAD_LAST_A
            LOAD_LAST_B
            NEXT_B(1u)
            EACH_16(MULTIPLY_LAST)
        }
    }
    EACH_16(END)

    const uint rows = M - tile.row;
    uint c_at = batch.outer * strideC + batch.inner * innerC + C_AT(tile.row, column);
#ifdef C_TRANSPOSED
    const uint c_texel = C + c_at / 4u, first_row = tile.row;
    EACH_4(STORE)
#else
#ifdef HALVES
    const bool fours = EVEN || NARROWS;
#else
    const bool fours = EVEN;
#endif
    const bool c_aligned = record.c.address.x % 16u == 0u;
    if (fours || (c_aligned && (N | ldc | strideC | innerC) % 4u == 0u)) {
        const uint c_texel = C + c_at / 4u;
        EACH_16(STORE)
    } else {
        Floats c_floats = Floats(record.c.address);
        // Not unrolled, for small code: stores row 0 and moves the others up.
        for (uint row = 0u; row < min(rows, ROWS); ++row) {
            EACH_4(STORE_SCALAR)
            c_at += ldc;
            EACH_16(MOVE_UP)
        }
    }
#endif
}
