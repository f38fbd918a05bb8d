// Shared by the GEMM kernels: C[b] = A[b] * B[b], where A is M x K, B is K x N and C is M x N.
//
// Numeric class, the same bits in every variant on one device; gemm_tile.comp has the class of GPUs.  K is divided into
// chunks of CHUNK.  A chunk's sum starts at +0 and adds a[k] * b[k] for ascending k: one rounding for the product, one
// for the sum, no fma.  The total starts at +0 and adds the chunks' sums in order.  A sum that starts at +0 is never
// -0, so adding +0 changes nothing: the total equals one that starts as the first sum, and K may be padded with zeros.
// A chunk's sum depends on that chunk only (split-K): workgroups may divide K by whole chunks and write their sums to
// [chunks][M][N]; a second launch that adds these in order, starting at +0, produces the same bits.
//
// Needs common/index.glsl.
#include "common/repeat.glsl"
const uint CHUNK = 512u;

// Sizes and strides, in elements, of a batch of products; the columns of C are contiguous.  The batch has `batches`
// matrices, batches / inners times `inners`, with an outer and an inner stride.
struct GemmSizes {
    int m, n, k;
    int a_row_stride, b_row_stride, c_row_stride;
    int batches, a_outer_stride, b_outer_stride, c_outer_stride;
    int a_column_stride, b_column_stride;
    int inners, a_inner_stride, b_inner_stride, c_inner_stride;
};

// The index of a matrix in a batch of batches.
struct Batch {
    uint outer, inner;
};
Batch batch_of(uint batch, uint inners)
{
    const uint outer = quotient(batch, inners);
    return Batch(outer, batch - outer * inners);
}

// The part of a batch of matrices that a workgroup computes.
struct Tile {
    uint batch, row, column; // of its first element
};

// Workgroups are numbered along a row of tiles, then down the rows, then through the batch.  There are
// batch * ceil(M / rows) * ceil(N / columns) of them.  `group` is below 2^31.
Tile tile_of(uint group, uint M, uint N, uint rows, uint columns)
{
    const uint across = (N + columns - 1u) / columns;
    const uint down = (M + rows - 1u) / rows;
    const uint strip = quotient(group, across);
    const uint batch = quotient(strip, down);
    return Tile(batch, (strip - batch * down) * rows, (group - strip * across) * columns);
}
