// variants: pack: ; pack_texel: -DTEXEL ; pack_texel_transposed: -DTEXEL -DROWS_CONTIGUOUS ; pack_f64: -DDOUBLE
// variants: pack_half: -DHALVES ; pack_texel_half: -DTEXEL -DHALVES
// variants: pack_texel_transposed_half: -DTEXEL -DROWS_CONTIGUOUS -DHALVES
// not on CUDA: pack_half
#version 460
// Copies matrices of any strides into rows of a multiple of 4 floats that are 16-byte aligned, padded with zeros: the
// operands that gemm_texel reads.  Three forms:
//   by default              loads by address, any strides, source anywhere
//   TEXEL                   texel loads (lavapipe): the column stride is 1
//   TEXEL, ROWS_CONTIGUOUS  texel loads (lavapipe): the row stride is 1, as in a transposed view
//
//   HALVES                  elements of 16 bits, which are only moved; with TEXEL the source is aligned
//
//   strides    in elements; of `source`, except for packed_row_stride and packed_matrix_stride
//   batches    batches / inners times `inners` matrices, whose distances are outer_stride and inner_stride
//   constants  0: ALIGNED (TEXEL only), promises that source is 16-byte aligned, and that its strides, except for the
//              one that must be 1, are multiples of 4
//   groups     batches * ceil(packed_rows / 16) * ceil(packed_row_stride / 64)
//   requires   packed 16-byte aligned, its strides multiples of 4, packed_rows >= rows,
//              packed_row_stride >= columns;
//              TEXEL: rows and columns above 0, strides not negative, source in the slab, packed in one
//              window
//
// A lane copies a block of 4 x 4 in each of 8 rounds.  4 lanes are arranged along the rows and 2 along the columns, so
// that whole cache lines are used in both directions.
#extension GL_GOOGLE_include_directive : require
#ifdef TEXEL
#define SLAB
#endif
#ifdef DOUBLE
#define PACKED Reals
#elif defined(HALVES)
#define PACKED Longs
#define BLOCK4 uvec4 // four elements of 16 bits
#else
#define PACKED Vec4s
#endif
#ifndef BLOCK4
#define BLOCK4 REAL4
#endif
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/gemm.glsl"
layout(local_size_x = 8) in;
layout(constant_id = 0) const bool ALIGNED = false;

RECORD(pack)
INPUT(source) OUTPUT(packed)
INT(rows) INT(columns) INT(row_stride) INT(column_stride) INT(outer_stride)
INT(packed_rows) INT(packed_row_stride) INT(packed_matrix_stride)
INT(batches) INT(inners) INT(inner_stride)
END_RECORD

const uint ROWS = 16u, COLUMNS = 64u; // of a tile

#if defined(TEXEL) && defined(HALVES)
uvec4 four_from(uint at, uint last)
{
    const uvec4 eight = floatBitsToUint(texelFetch(slab, int(at / 8u)));
    const uvec2 four = at / 4u % 2u == 0u ? eight.xy : eight.zw;
    return uvec4(four.x & 0xFFFFu, four.x >> 16, four.y & 0xFFFFu, four.y >> 16);
}
#elif defined(TEXEL)
// Loads four floats starting at any element of the slab.  last: the last texel that may be read
REAL4 four_from(uint at, uint last)
{
    const REAL4 low = texelFetch(slab, int(at / 4u));
    if (ALIGNED)
        return low;
    const REAL4 high = texelFetch(slab, int(min(at / 4u + 1u, last)));
    REAL4 x = mix(low, REAL4(low.yzw, high.x), bvec4(at % 4u == 1u));
    x = mix(x, REAL4(low.zw, high.xy), bvec4(at % 4u == 2u));
    return mix(x, REAL4(low.w, high.xyz), bvec4(at % 4u == 3u));
}
#endif

void main()
{
    const uint rows = record.rows, columns = record.columns;
    const int rsS = record.row_stride, csS = record.column_stride, strideS = record.outer_stride;
    const uint packed_rows = record.packed_rows, ldP = record.packed_row_stride;
    const uint strideP = record.packed_matrix_stride, batches = record.batches;
#if defined(TEXEL) && defined(HALVES)
    const uint source = record.source.texel * 8u + record.source.address.x / 2u % 8u; // in elements
#elif defined(TEXEL)
    const uint source = record.source.texel * 4u + record.source.address.x / 4u % 4u; // in floats
#elif defined(HALVES)
    Words source = Words(uvec2(record.source.address.x & ~3u, record.source.address.y));
#else
    Reals source = Reals(record.source.address);
#endif
#if defined(TEXEL) && !defined(HALVES)
    const uint packed = record.packed.texel;
#else
    PACKED packed = PACKED(record.packed.address);
#endif
    const Tile tile = tile_of(flat_group(), packed_rows, ldP, ROWS, COLUMNS);
    if (tile.batch >= batches)
        return;
    const Batch batch = batch_of(tile.batch, record.inners);
    const int matrix = int(batch.outer) * strideS + int(batch.inner) * record.inner_stride;
    const uint lane = gl_LocalInvocationID.x;
    const uint row = tile.row + lane % 4u * 4u;
    uint column = tile.column + lane / 4u * 4u;
#ifdef TEXEL
    const uint first = source + uint(matrix);
    const uint last = (first + (rows - 1u) * uint(rsS) + (columns - 1u) * uint(csS)) / 4u;
#elif defined(HALVES)
    const int first = matrix + int(record.source.address.x / 2u % 2u);
#else
    const int first = matrix;
#endif
    const uvec4 next = uvec4(0u, 1u, 2u, 3u);

    uint turn = 0u;
    do { // tests at its end, as lavapipe also executes the body in the iteration in which a loop's test fails
        BLOCK4 block[4]; // [row][column]
#if defined(TEXEL) && defined(ROWS_CONTIGUOUS)
        BLOCK4 line[4]; // [column][row]
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            const uint at = first + min(row, rows - 1u) + min(column + i, columns - 1u) * uint(csS);
            const uint end = column + i < columns ? rows : 0u;
            line[i] = mix(BLOCK4(0.0), four_from(at, last), lessThan(row + next, uvec4(end)));
        }
        [[unroll]] for (uint i = 0u; i < 4u; ++i)
            block[i] = BLOCK4(line[0][i], line[1][i], line[2][i], line[3][i]);
#elif defined(TEXEL)
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            const uint at = first + min(row + i, rows - 1u) * uint(rsS) + min(column, columns - 1u);
            const uint end = row + i < rows ? columns : 0u;
            block[i] = mix(BLOCK4(0.0), four_from(at, last), lessThan(column + next, uvec4(end)));
        }
#else
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            [[unroll]] for (uint j = 0u; j < 4u; ++j) {
                const int from = first + int(row + i) * rsS + int(column + j) * csS;
#ifdef HALVES
                block[i][j] = 0u;
                if (row + i < rows && column + j < columns)
                    block[i][j] = source.v[from / 2] >> (from % 2 * 16) & 0xFFFFu;
#else
                block[i][j] = 0.0;
                if (row + i < rows && column + j < columns)
                    block[i][j] = source.v[from];
#endif
            }
        }
#endif
        const uint at = (tile.batch * strideP + row * ldP + column) / 4u;
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            if (row + i < packed_rows && column < ldP) {
#ifdef HALVES
                packed.v[at + i * (ldP / 4u)] = uvec2(block[i].x | block[i].y << 16, block[i].z | block[i].w << 16);
#elif defined(TEXEL)
                slab_window[WINDOW_OF(packed)].v[IN_WINDOW(packed) + at + i * (ldP / 4u)] = block[i];
#elif defined(DOUBLE)
                for (uint j = 0u; j < 4u; ++j) packed.v[4u * (at + i * (ldP / 4u)) + j] = block[i][j];
#else
                packed.v[at + i * (ldP / 4u)] = block[i];
#endif
            }
        }
        column += 8u;
        ++turn;
    } while (turn < 8u && tile.column + turn * 8u < ldP);
}
