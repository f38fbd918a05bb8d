// not on CUDA: gemm_tile, gemm_tile_large, gemm_tile_half, gemm_tile_half_large
// not on CUDA: gemm_tile_quantized_half, gemm_tile_quantized_half_large
// variants: gemm_tile: ; gemm_tile_large: -DLARGE
// variants: gemm_tile_half: -DHALF ; gemm_tile_half_large: -DHALF -DLARGE
// variants: gemm_tile_quantized: -DQUANTIZED ; gemm_tile_quantized_large: -DQUANTIZED -DLARGE
// variants: gemm_tile_quantized_half: -DQUANTIZED -DHALF ; gemm_tile_quantized_half_large: -DQUANTIZED -DHALF -DLARGE
#version 460
// C[b] = A[b] * B[b] for GPUs: tiles in shared memory, any strides.
// Numeric class of products on GPUs: K is divided into `parts` parts, which depend on the sizes alone; the sum of a
// part is a chain of fma over ascending k, from 0.  With several parts each is written to `partial`, and gemm_sum adds
// them.
//
// A group of 256 lanes computes 64 rows x 64 columns, each lane 4 x 4; LARGE 128 x 128, each lane 8 x 8.  Loads beyond
// an edge are clamped: rows and columns there are not stored, and steps of k there add nothing.
//
// HALF: A and B are f16 or bf16, which are widened when they come from memory; C is f32.
// QUANTIZED: B is a matrix of common/quantized.glsl, loaded as vectors; its strides are those of the elements.  With
// HALF A alone is f16 or bf16.
//
//   partial    [parts][batches][M][N], if parts > 1; part_length is then a multiple of 16
//   groups     parts * batches * ceil(M / 64) * ceil(N / 64), or of 128
//   requires   offsets below 2^31 elements
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/gemm.glsl"
#ifdef HALF
#ifdef QUANTIZED
#define WIDENING_CONSTANT 4
#else
#define WIDENING_CONSTANT 3
#endif
#include "common/halves.glsl"
#include "common/widening.glsl"
#endif
#ifdef QUANTIZED
#include "common/vocabulary.glsl"
#define FORMAT_CONSTANT 3
#include "common/quantized.glsl"
#endif
layout(local_size_x = 256) in;

RECORD(gemm_tile)
INPUT(a) INPUT(b) OUTPUT(c) OUTPUT(partial) CHAIN_OPERANDS
MEMBER(GemmSizes, sizes) INT(parts) INT(part_length)
END_RECORD

#include "common/gemm_loads.glsl"

#ifdef HALF
#define LOADED uvec4 // the bits of four elements, two in a word of a vector
#else
#define LOADED vec4
#endif

#ifdef LARGE
const uint ROWS = 128u, PER_LANE = 8u, STEPS = 8u;
#else
const uint ROWS = 64u, PER_LANE = 4u, STEPS = 16u;
#endif
const uint COLUMNS = ROWS, LINES4 = ROWS / 4u;
#include "common/product_tile.glsl"

// An operand, with the elements of k = 0 of the four lines (of vectors: of the first one) that a lane loads.
struct Source {
    uvec2 address;
    uvec4 at;
    uint k_stride;
};

// The (line, k) in the tile of element i of the four that a lane loads in a round; of vectors, of the first element.
uvec2 element_of(uint loads, uint i)
{
    const uint lane = gl_LocalInvocationIndex, n = i * 256u + lane;
    if (loads == VECTORS_ALONG_K) return uvec2(lane / (STEPS / 4u), lane % (STEPS / 4u) * 4u);
    if (loads == VECTORS_ALONG_LINES) return uvec2(lane % LINES4 * 4u, lane / LINES4);
    return loads == ALONG_K ? uvec2(n / STEPS, n % STEPS) : uvec2(n % ROWS, n / ROWS);
}

// `line` is the first one of the tile, `lines` the number of lines of the matrix.
Source source_of(uvec2 address, uint loads, uint first, uint line, uint lines, uint line_stride, uint k_stride)
{
    Source s;
    s.address = address;
    s.k_stride = k_stride;
    const uint last = lines - (loads == VECTORS_ALONG_LINES ? 4u : 1u);
    [[unroll]] for (uint i = 0u; i < 4u; ++i)
        s.at[i] = first + min(line + element_of(loads, i).x, last) * line_stride;
    return s;
}

LOADED load4(Source s, uint loads, uint block, uint K)
{
    if (loads >= VECTORS_ALONG_K) {
        const uint k = min(block + element_of(loads, 0u).y, K - (loads == VECTORS_ALONG_K ? 4u : 1u));
#ifdef HALF
        return uvec4(ReadHalves4(s.address).v[(s.at.x + k * s.k_stride) / 4u], 0u, 0u);
#else
        return ReadVec4s(s.address).v[(s.at.x + k * s.k_stride) / 4u];
#endif
    }
    LOADED v;
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
        const uint at = s.at[i] + min(block + element_of(loads, i).y, K - 1u) * s.k_stride;
#ifdef HALF
        v[i] = uint(ReadHalves(s.address).v[at]);
#else
        v[i] = ReadFloats(s.address).v[at];
#endif
    }
    return v;
}
// Returns the elements with `padding` for steps beyond K.  It is called after the products of a round, so that no load
// is waited for before.
vec4 padded(LOADED loaded, uint loads, uint block, uint K, float padding)
{
#ifdef HALF
    vec4 v = loads >= VECTORS_ALONG_K ? widened(loaded.xy) : widened(loaded);
#else
    vec4 v = loaded;
#endif
    if (loads >= VECTORS_ALONG_K) return block + element_of(loads, 0u).y < K ? v : vec4(padding);
    [[unroll]] for (uint i = 0u; i < 4u; ++i) v[i] = block + element_of(loads, i).y < K ? v[i] : padding;
    return v;
}

#ifdef QUANTIZED
// The words of four elements of B: the element is scale * q - minimum.
struct LoadedB {
    uvec2 four;
    uvec4 scale;
    uint e; // index of the first element
};
uint row_length() { return B_LOADS == VECTORS_ALONG_K ? record.sizes.k : record.sizes.n; }
LoadedB load4_of_b(Source s, uint block, uint K)
{
    const uint k = min(block + element_of(B_LOADS, 0u).y, K - (B_LOADS == VECTORS_ALONG_K ? 4u : 1u));
    LoadedB b;
    b.e = s.at.x + k * s.k_stride;
    b.four = load_four(s.address, b.e, row_length());
    b.scale = load_scale(s.address, b.e, row_length());
    return b;
}
vec4 padded_b(LoadedB b, uint block, uint K)
{
    const vec4 v = dequantized(joined(b.four, b.e), scale_of(b.scale, b.e), b.e);
    return block + element_of(B_LOADS, 0u).y < K ? v : vec4(PADDING_OF_B);
}
#else
#define LoadedB LOADED
#define load4_of_b(s, block, K) load4(s, B_LOADS, block, K)
#define padded_b(loaded, block, K) padded(loaded, B_LOADS, block, K, PADDING_OF_B)
#endif

// Both tiles have the same pitch.  `half_index` is that of the half of shared memory.
#define STORE_TO_TILE(tile, half_index, loads, v) \
    if (loads == VECTORS_ALONG_LINES) { \
        const uvec2 e = element_of(loads, 0u); \
        tile[((half_index) * STEPS + e.y) * PITCH_A + e.x / 4u] = v; \
    } else { \
        [[unroll]] for (uint i = 0u; i < 4u; ++i) { \
            const uvec2 e = element_of(loads, i) + (loads == VECTORS_ALONG_K ? uvec2(0u, i) : uvec2(0u)); \
            tile[((half_index) * STEPS + e.y) * PITCH_A + e.x / 4u][e.x % 4u] = v[i]; \
        } \
    }

#ifdef CHAIN
#define FINISH_ROW(i)                                                                           \
    {                                                                                           \
        const uint row = share.tile.row + (lane_row() + (i) / 4u * LANES_DOWN) * 4u + (i) % 4u; \
        if (row < M) {                                                                          \
            FINISH_VECTOR(i, 0u)                                                                \
            if (VECTORS > 1u) { FINISH_VECTOR(i, VECTORS - 1u) }                                \
        }                                                                                       \
    }
#define FINISH_VECTOR(i, j)                                                                     \
    {                                                                                           \
        const uint column = share.tile.column + (lane_column() + (j) * LANES_ACROSS) * 4u;      \
        store_finished(share.first_c + row * share.row_stride + column, column, N, sum[i][j]);  \
    }
#endif

void main()
{
    const Share share = share_of_group(ROWS, COLUMNS);
    if (!share.exists) return;
    const uint M = record.sizes.m, N = record.sizes.n, K = share.steps;
    const Source A = source_of(record.a.address, A_LOADS, share.first_a, share.tile.row, M, record.sizes.a_row_stride,
                               record.sizes.a_column_stride);
    const Source B = source_of(record.b.address, B_LOADS, share.first_b, share.tile.column, N, record.sizes.b_column_stride,
                               record.sizes.b_row_stride);

    clear_sums();
    if (K > 0u) {
        const LOADED first_a = load4(A, A_LOADS, 0u, K);
        const LoadedB first_b = load4_of_b(B, 0u, K);
        const vec4 a = padded(first_a, A_LOADS, 0u, K, PADDING_OF_A), b = padded_b(first_b, 0u, K);
        STORE_TO_TILE(tile_a, 0u, A_LOADS, a)
        STORE_TO_TILE(tile_b, 0u, B_LOADS, b)
    }
    barrier();
    uint half_index = 0u;
    for (uint block = 0u; block < K; block += STEPS) {
        const bool more = block + STEPS < K;
        LOADED next_a;
        LoadedB next_b;
        if (more) {
            next_a = load4(A, A_LOADS, block + STEPS, K);
            next_b = load4_of_b(B, block + STEPS, K);
        }
        add_products(half_index);
        half_index = 1u - half_index;
        if (more) {
            const vec4 a = padded(next_a, A_LOADS, block + STEPS, K, PADDING_OF_A);
            const vec4 b = padded_b(next_b, block + STEPS, K);
            STORE_TO_TILE(tile_a, half_index, A_LOADS, a)
            STORE_TO_TILE(tile_b, half_index, B_LOADS, b)
        }
        barrier();
    }

#ifdef CHAIN // without unrolled loops, as spirv-opt's copies of the chain's steps would lose NoContraction
    if (share.whole) {
#ifdef LARGE
        EACH_8(FINISH_ROW)
#else
        EACH_4(FINISH_ROW)
#endif
        return;
    }
#endif
    [[unroll]] for (uint i = 0u; i < PER_LANE; ++i) {
        const uint row = share.tile.row + (lane_row() + i / 4u * LANES_DOWN) * 4u + i % 4u;
        if (row >= M) continue;
        [[unroll]] for (uint j = 0u; j < VECTORS; ++j) {
            const uint column = share.tile.column + (lane_column() + j * LANES_ACROSS) * 4u;
            store4(share.to, share.first_c + row * share.row_stride + column, column, N, sum[i][j]);
        }
    }
}
