// variants: gemm_address: ; gemm_address_shuffle: -DSHUFFLE ; gemm_address_f64: -DDOUBLE
// variants: gemm_address_half: -DHALVES ; gemm_address_shuffle_half: -DSHUFFLE -DHALVES
// variants: gemm_address_bf16: -DHALVES -DFIXED_WIDENING=BF16_BY_SHIFT
// variants: gemm_address_f16: -DHALVES -DFIXED_WIDENING=F16_BY_UNPACK
// not on CUDA: gemm_address_half, gemm_address_bf16, gemm_address_f16
// not on CUDA: gemm_address_quantized, gemm_address_quantized_half
// variants: gemm_address_quantized: -DQUANTIZED ; gemm_address_quantized_f64: -DQUANTIZED -DDOUBLE
// variants: gemm_address_quantized_half: -DQUANTIZED -DHALVES
#version 460
// C[b] = A[b] * B[b] with loads by address and any strides: transposes and views need no packing.
// Numeric class: common/gemm.glsl.
//
// Each lane computes ROWS rows x COLUMNS columns, without barriers: columns LANES apart, or with HALVES pairs of
// neighbours, 2 LANES apart. There are three forms:
//   by default  8 rows x 8 columns, 4 lanes that all load the same A: runs on any device, tuned for
//               SwiftShader
//   DOUBLE      8 rows x 4 columns, 8 lanes: the same number of registers
//   SHUFFLE     16 rows x 4 columns, 8 lanes that share their loads of A: needs subgroups of 8 lanes,
//               tuned for lavapipe if an operand is not in the slab or not worth packing
// With QUANTIZED, B is a matrix of common/quantized.glsl; its strides are those of the elements.
//
//   HALVES      with one of the f32 forms: A and B are f16 or bf16, of which words are loaded; with SINGLE_A or
//               SINGLE_B one of them is f32.  With NARROWS C is in the dtype of halves, too, and N, its strides and its
//               first element are even; with BIASED the sums are rounded after bias, [N] in that dtype, is added.
//               With QUANTIZED A is f16 or bf16, and C is f32
//   FIXED_WIDENING  with HALVES: A and B have the one dtype, and the code no branches: products take 0.4 of the time on
//               SwiftShader
//
//   constants  HALVES: 0: WIDENING; 1: NARROWS; 2: BIASED; 3: SINGLE_A; 4: SINGLE_B; with FIXED_WIDENING only 1 and 2
//              QUANTIZED: 0: FORMAT; 1: WIDENING, with HALVES
//   groups     batches * ceil(M / 8) * ceil(N / 32);  SHUFFLE: batches * ceil(M / 16) * ceil(N / 32)
//   requires   offsets below 2^31 elements
#extension GL_GOOGLE_include_directive : require
#ifdef SHUFFLE
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#endif
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/gemm.glsl"
#ifdef QUANTIZED
#include "common/vocabulary.glsl"
#define FORMAT_CONSTANT 0
#include "common/quantized.glsl"
#define B_OF(at) REAL(dequantized_one(record.b.address, uint(at), row_length))
#else
#define B_OF(at) ELEMENT(B, at, SINGLE_B)
#endif

// STEPS is the number of k per block: with more, SwiftShader's code outgrows the instruction cache.
#ifdef SHUFFLE
const uint LANES = 8u, ROWS = 16u, COLUMNS = 4u, STEPS = 4u;
const uint A_LOADS = 2u; // lane i loads rows i and 8 + i
#define A_ROW(i) (i * LANES + lane)
#define A_OF(row, step) subgroupShuffle(a[step][(row) / 8], (row) % 8)
#define EACH_ROW EACH_16
#define EACH_COLUMN EACH_4
#define EACH_STEP(F, row) F(row, 0) F(row, 1) F(row, 2) F(row, 3)
#define EACH_VECTOR(F, row) F(row, 0)
#define MULTIPLY_ROW(row, x, b) sum[row][0] += (x) * b[0];
#elif defined(DOUBLE)
const uint LANES = 8u, ROWS = 8u, COLUMNS = 4u, STEPS = 2u;
const uint A_LOADS = 8u;
#define A_ROW(i) (i)
#define A_OF(row, step) a[step][row]
#define EACH_ROW EACH_8
#define EACH_COLUMN EACH_4
#define EACH_STEP(F, row) F(row, 0) F(row, 1)
#define EACH_VECTOR(F, row) F(row, 0)
#define MULTIPLY_ROW(row, x, b) sum[row][0] += (x) * b[0];
#else
const uint LANES = 4u, ROWS = 8u, COLUMNS = 8u, STEPS = 2u;
const uint A_LOADS = 8u;
#define A_ROW(i) (i)
#define A_OF(row, step) a[step][row]
#define EACH_ROW EACH_8
#define EACH_COLUMN EACH_8
#define EACH_STEP(F, row) F(row, 0) F(row, 1)
#define EACH_VECTOR(F, row) F(row, 0) F(row, 1)
#define MULTIPLY_ROW(row, x, b) sum[row][0] += (x) * b[0]; sum[row][1] += (x) * b[1];
#endif
layout(local_size_x = LANES) in;
#ifdef HALVES
#ifdef QUANTIZED
#define WIDENING_CONSTANT 1
const bool SINGLE_A = false, SINGLE_B = true; // B starts at its first element
#else
#ifdef FIXED_WIDENING
const bool SINGLE_A = false, SINGLE_B = false;
#else
#define WIDENING_CONSTANT 0
layout(constant_id = 3) const bool SINGLE_A = false;
layout(constant_id = 4) const bool SINGLE_B = false;
#endif
#define STORES_HALVES
layout(constant_id = 1) const bool NARROWS = false;
layout(constant_id = 2) const bool BIASED = false;
#endif
#include "common/widening.glsl"
#include "common/narrowing.glsl"
#define COLUMN(i) (i / 2u * 2u * LANES + i % 2u)
#define FIRST_COLUMN(lane) (2u * lane)
// An operand of halves may start in the middle of a word.
#define FIRST_OF(operand, single) (single ? 0 : int(operand.address.x / 2u % 2u))
float element(Words x, int i, bool single)
{
    return single ? uintBitsToFloat(x.v[i]) : widened(x.v[i >> 1] >> ((i & 1) << 4) & 0xFFFFu);
}
#define ELEMENT(x, i, single) element(x, i, single)
#else
#define COLUMN(i) (i * LANES)
#define FIRST_COLUMN(lane) lane
#define FIRST_OF(operand, single) 0
#define ELEMENT(x, i, single) x.v[i]
#endif

RECORD(gemm_address)
INPUT(a) INPUT(b) OUTPUT(c) INPUT(bias)
MEMBER(GemmSizes, sizes)
END_RECORD

#define CLEAR_VECTOR(row, i) sum[row][i] = total[row][i] = REAL4(0.0);
#define CLEAR(row) EACH_VECTOR(CLEAR_VECTOR, row)
// Macros, as the unroller of spirv-opt would drop NoContraction from copies of a dequantisation.
#define LOAD_B(i) b[s][i / 4][i % 4] = B_OF(b_at[i] + b_k);
#define LOAD_STEP(unused, step)                                                                    \
    {                                                                                              \
        const uint s = step;                                                                       \
        [[unroll]] for (uint i = 0u; i < A_LOADS; ++i) a[s][i] = ELEMENT(A, a_at[i] + a_k, SINGLE_A);\
        EACH_COLUMN(LOAD_B)                                                                        \
        a_k += csA;                                                                                \
        b_k += rsB;                                                                                \
    }
#define MULTIPLY(row, step) MULTIPLY_ROW(row, A_OF(row, step), b[step])
#define MULTIPLY_BLOCK(row) EACH_STEP(MULTIPLY, row)
#define MULTIPLY_LAST(row) MULTIPLY(row, 0)
#define END_CHUNK_VECTOR(row, i)                                                                   \
    if (full) {                                                                                    \
        total[row][i] += sum[row][i];                                                              \
        sum[row][i] = REAL4(0.0);                                                                   \
    }
#define END_CHUNK(row) EACH_VECTOR(END_CHUNK_VECTOR, row)
#define END_VECTOR(row, i) total[row][i] += sum[row][i];
#define END(row) EACH_VECTOR(END_VECTOR, row)
#define STORE(i)                                                                                   \
    if (column + COLUMN(i) < N)                                                                    \
        C.v[c_at + int(COLUMN(i))] = total[0][i / 4][i % 4];
#ifdef STORES_HALVES
#define LOAD_BIAS(i)                                                                               \
    {                                                                                              \
        const uint at = min(column + COLUMN(i), N - 1u);                                           \
        bias[i / 4][i % 4] = widened(Words(record.bias.address).v[at / 2u] >> (at % 2u * 16u) & 0xFFFFu); \
    }
#define ADD_BIAS(i) total[0][i / 4][i % 4] += bias[i / 4][i % 4];
#define STORE_PAIR(i)                                                                              \
    if (i % 2u == 0u && column + COLUMN(i) < N)                                                    \
        pairs.v[(c_at + int(COLUMN(i))) / 2] =                                                     \
            narrowed(total[0][i / 4][i % 4]) | narrowed(total[0][i / 4][(i + 1) % 4]) << 16;
#endif
#define MOVE_UP_VECTOR(row, i) total[row][i] = total[(row + 1) % ROWS][i];
#define MOVE_UP(row) EACH_VECTOR(MOVE_UP_VECTOR, row)

void main()
{
    const uint M = record.sizes.m, N = record.sizes.n, K = record.sizes.k;
    const int rsA = record.sizes.a_row_stride, rsB = record.sizes.b_row_stride, ldc = record.sizes.c_row_stride;
    const int batches = record.sizes.batches;
    const int strideA = record.sizes.a_outer_stride, strideB = record.sizes.b_outer_stride, strideC = record.sizes.c_outer_stride;
    const int csA = record.sizes.a_column_stride, csB = record.sizes.b_column_stride;
#ifdef HALVES
    Words A = Words(uvec2(record.a.address.x & ~3u, record.a.address.y));
#else
    Reals A = Reals(record.a.address);
#endif
#if defined(QUANTIZED)
    const uint row_length = rsB == 1 ? K : N;
#elif defined(HALVES)
    Words B = Words(uvec2(record.b.address.x & ~3u, record.b.address.y));
#else
    Reals B = Reals(record.b.address);
#endif
    Reals C = Reals(record.c.address);

    const Tile tile = tile_of(flat_group(), M, N, ROWS, COLUMNS * LANES);
    if (int(tile.batch) >= batches)
        return;
    const Batch batch = batch_of(tile.batch, record.sizes.inners);
    const int outer = int(batch.outer), inner = int(batch.inner);
    const int first_a = FIRST_OF(record.a, SINGLE_A) + outer * strideA + inner * record.sizes.a_inner_stride;
    const int first_b = FIRST_OF(record.b, SINGLE_B) + outer * strideB + inner * record.sizes.b_inner_stride;
    const int first_c = outer * strideC + inner * record.sizes.c_inner_stride;
    const uint lane = gl_LocalInvocationID.x;
    const uint column = tile.column + FIRST_COLUMN(lane);

    // Rows and columns beyond the edge read the last one instead and are not stored.
    int a_at[A_LOADS], b_at[COLUMNS];
    [[unroll]] for (uint i = 0u; i < A_LOADS; ++i)
        a_at[i] = first_a + int(min(tile.row + A_ROW(i), M - 1u)) * rsA;
    [[unroll]] for (uint i = 0u; i < COLUMNS; ++i)
        b_at[i] = first_b + int(min(column + COLUMN(i), N - 1u)) * csB;

    precise REAL4 sum[ROWS][COLUMNS / 4u], total[ROWS][COLUMNS / 4u];
    EACH_ROW(CLEAR)
    uint k = 0u;
    int a_k = 0, b_k = 0; // offsets of k
    const uint whole = K - K % STEPS;
    if (whole > 0u) {
        do {
            const uint end = min(k + CHUNK, whole);
            do {
                REAL a[STEPS][A_LOADS];
                REAL4 b[STEPS][COLUMNS / 4u];
                EACH_STEP(LOAD_STEP, 0)
                EACH_ROW(MULTIPLY_BLOCK)
                k += STEPS;
            } while (k < end);
            const bool full = k % CHUNK == 0u;
            EACH_ROW(END_CHUNK)
        } while (k < whole);
    }
    for (; k < K; ++k) { // fewer than STEPS, all in one chunk since CHUNK % STEPS is 0
        REAL a[1][A_LOADS];
        REAL4 b[1][COLUMNS / 4u];
        LOAD_STEP(0, 0)
        EACH_ROW(MULTIPLY_LAST)
    }
    EACH_ROW(END)

    // Not unrolled, for small code: stores row 0 and moves the others up.
    int c_at = first_c + int(tile.row) * ldc + int(column);
#ifdef STORES_HALVES
    Words pairs = Words(record.c.address);
    vec4 bias[COLUMNS / 4u]; // of this lane's columns
    if (BIASED) {
        EACH_COLUMN(LOAD_BIAS)
    }
#endif
    for (uint row = 0u; row < min(M - tile.row, ROWS); ++row) {
#ifdef STORES_HALVES
        if (BIASED) {
            EACH_COLUMN(ADD_BIAS)
        }
        if (NARROWS) {
            EACH_COLUMN(STORE_PAIR)
        } else
#endif
        {
            EACH_COLUMN(STORE)
        }
        c_at += ldc;
        EACH_ROW(MOVE_UP)
    }
}
