// variants: pack: ; pack_texel: -DTEXEL ; pack_texel_transposed: -DTEXEL -DROWS_CONTIGUOUS ; pack_f64: -DDOUBLE
#version 460
// Copies matrices of any strides into rows of a multiple of 4 floats that start on 16 bytes, with zeros
// beyond their edges: the operands that gemm_texel reads.  Three forms:
//   by default              loads by address, any strides, source anywhere
//   TEXEL                   texel loads (lavapipe): csS is 1
//   TEXEL, ROWS_CONTIGUOUS  texel loads (lavapipe): rsS is 1, as in a transposed view
//
//   operands   source, packed
//   ints       rows, columns, rsS, csS, strideS, packed rows, ldP, strideP, batch, inners, innerS     (elements)
//              the source is of batch / inners batches of `inners` matrices: strideS and innerS lead from one to
//              the next
//   constants  0: ALIGNED (TEXEL only), promises that source is 16-byte aligned, and that strideS, innerS and
//              the one of rsS and csS that is not required to be 1 are multiples of 4
//   groups     batch * ceil(packed rows / 16) * ceil(ldP / 64)
//   requires   packed 16-byte aligned, ldP and strideP multiples of 4, packed rows >= rows, ldP >= columns;
//              TEXEL: rows and columns above 0, strides not negative, source in the slab, packed in one
//              window
//
// A lane copies a block of 4 x 4 in each of 8 rounds.  4 lanes lie along the rows and 2 along the columns,
// so that whole cache lines are used in both directions.
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 2
#define FLOATS 0
#ifdef TEXEL
#define SLAB
#endif
#ifdef DOUBLE
#define PACKED Reals
#else
#define PACKED Vec4s
#endif
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/gemm.glsl"
layout(local_size_x = 8) in;
layout(constant_id = 0) const bool ALIGNED = false;

const uint ROWS = 16u, COLUMNS = 64u; // of a tile

#ifdef TEXEL
// Four floats from any element of the slab.  last: the last texel that may be read
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
    Record r = record;
    const uint rows = r.n[0], columns = r.n[1];
    const int rsS = r.n[2], csS = r.n[3], strideS = r.n[4];
    const uint packed_rows = r.n[5], ldP = r.n[6], strideP = r.n[7], batches = r.n[8];
#ifdef TEXEL
    const uint source = r.operand[0].texel * 4u + r.operand[0].address.x / 4u % 4u; // in floats
    const uint packed = r.operand[1].texel;
#else
    Reals source = Reals(r.operand[0].address);
    PACKED packed = PACKED(r.operand[1].address);
#endif
    const Tile tile = tile_of(flat_group(), packed_rows, ldP, ROWS, COLUMNS);
    if (tile.batch >= batches)
        return;
    const Batch batch = batch_of(tile.batch, r.n[9]);
    const int matrix = int(batch.outer) * strideS + int(batch.inner) * r.n[10];
    const uint lane = gl_LocalInvocationID.x;
    const uint row = tile.row + lane % 4u * 4u;
    uint column = tile.column + lane / 4u * 4u;
#ifdef TEXEL
    const uint first = source + uint(matrix);
    const uint last = (first + (rows - 1u) * uint(rsS) + (columns - 1u) * uint(csS)) / 4u;
#else
    const int first = matrix;
#endif
    const uvec4 next = uvec4(0u, 1u, 2u, 3u);

    uint turn = 0u;
    do { // tests at its end: lavapipe runs the round that finds a loop ended
        REAL4 block[4]; // [row][column]
#if defined(TEXEL) && defined(ROWS_CONTIGUOUS)
        REAL4 line[4]; // [column][row]
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            const uint at = first + min(row, rows - 1u) + min(column + i, columns - 1u) * uint(csS);
            const uint end = column + i < columns ? rows : 0u;
            line[i] = mix(REAL4(0.0), four_from(at, last), lessThan(row + next, uvec4(end)));
        }
        [[unroll]] for (uint i = 0u; i < 4u; ++i)
            block[i] = REAL4(line[0][i], line[1][i], line[2][i], line[3][i]);
#elif defined(TEXEL)
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            const uint at = first + min(row + i, rows - 1u) * uint(rsS) + min(column, columns - 1u);
            const uint end = row + i < rows ? columns : 0u;
            block[i] = mix(REAL4(0.0), four_from(at, last), lessThan(column + next, uvec4(end)));
        }
#else
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            [[unroll]] for (uint j = 0u; j < 4u; ++j) {
                block[i][j] = 0.0;
                if (row + i < rows && column + j < columns)
                    block[i][j] = source.v[first + int(row + i) * rsS + int(column + j) * csS];
            }
        }
#endif
        const uint at = (tile.batch * strideP + row * ldP + column) / 4u;
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            if (row + i < packed_rows && column < ldP) {
#ifdef TEXEL
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
