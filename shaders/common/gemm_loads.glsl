// Matrix products by tiles on GPUs: what gemm_tile.comp and gemm_matrix.comp share.  Needs a record with a, b, c,
// partial, sizes, parts and part_length, and common/gemm.glsl.

// How an operand is loaded.  A line is a row of A or a column of B.  Vectors need lines (or steps of k) that start at a
// multiple of 4 elements, and have such a number of elements.
const uint ALONG_K = 0u, ALONG_LINES = 1u; // scalars, neighbouring lanes along k or along the lines
const uint VECTORS_ALONG_K = 2u, VECTORS_ALONG_LINES = 3u;
layout(constant_id = 0) const uint A_LOADS = ALONG_K;
layout(constant_id = 1) const uint B_LOADS = ALONG_LINES;
layout(constant_id = 2) const uint STORE_VECTORS = 0; // whether rows of C are 16-byte aligned and N is a multiple of 4

// What a workgroup computes: a tile of C, from a part of k.
struct Share {
    bool exists, whole; // whole: there is one part, so that the result is stored, not a part's sum
    Tile tile;
    uint steps;            // of k
    uint first_a, first_b; // elements of row or column 0 at the first step
    uvec2 to;
    uint first_c, row_stride; // of the memory at `to`
};
Share share_of_group(uint rows, uint columns)
{
    const uint M = record.sizes.m, N = record.sizes.n, batches = record.sizes.batches, parts = record.parts;
    const uint down = (M + rows - 1u) / rows, across = (N + columns - 1u) / columns;
    const uint part = quotient(flat_group(), max(batches * down * across, 1u));
    Share s;
    s.exists = part < parts;
    s.whole = parts == 1u;
    s.tile = tile_of(flat_group() - part * batches * down * across, M, N, rows, columns);
    const Batch batch = batch_of(s.tile.batch, record.sizes.inners);
    const uint first_k = part * record.part_length;
    s.steps = min(uint(record.sizes.k) - first_k, uint(record.part_length));
    s.first_a = batch.outer * record.sizes.a_outer_stride + batch.inner * record.sizes.a_inner_stride +
                first_k * record.sizes.a_column_stride;
    s.first_b = batch.outer * record.sizes.b_outer_stride + batch.inner * record.sizes.b_inner_stride +
                first_k * record.sizes.b_row_stride;
    s.to = s.whole ? record.c.address : record.partial.address;
    s.row_stride = s.whole ? record.sizes.c_row_stride : N;
    s.first_c = s.whole ? batch.outer * record.sizes.c_outer_stride + batch.inner * record.sizes.c_inner_stride
                        : (part * batches + s.tile.batch) * M * N;
    return s;
}

// Stores elements `column` to column + 3 of a row of C, or of a part's sum.
void store4(uvec2 to, uint at, uint column, uint N, vec4 v)
{
    if (STORE_VECTORS != 0u) {
        if (column < N) Vec4s(to).v[at / 4u] = v;
        return;
    }
    [[unroll]] for (uint e = 0u; e < 4u; ++e)
        if (column + e < N) Floats(to).v[at + e] = v[e];
}
#ifdef CHAIN // kernels/fused_text.cpp: finish() computes a chain of an element of C and stores its results
#define FINISH_1(e) if (column + e < N) finish(at + e, column + e, v[e]);
void store_finished(uint at, uint column, uint N, vec4 v)
{
    if (STORE_VECTORS != 0u) {
        if (column < N) finish4(at, column, v);
        return;
    }
    FINISH_1(0u) FINISH_1(1u) FINISH_1(2u) FINISH_1(3u)
}
#endif
