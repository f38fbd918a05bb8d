#version 460
// dw[r] = the sum of dy[i] over all i with indices[i] = r, in ascending order of i, for any shape of the launches.
// Indices out of range and the padding index are ignored.
//
// The positions of one row form a circular linked list, next[i], stored by its last member, whose next is the first.
//   LINK   an invocation reads a block of positions and builds its lists: tails[block][row], -1: none.
//          indices are i32, tails initially -1; block_size: positions per block; padding: -1: none;
//          groups: ceil(blocks / 8)
//   GROUP  (with LINK) a workgroup builds the lists of a block of at most 1,024 positions: each lane finds the next
//          position of its row in shared memory, as following a list through memory takes a GPU long.  groups: blocks
//   JOIN   an invocation joins the lists of a row in the order of the blocks; the result is stored for block 0.
//          groups: ceil(rows / 64)
//   else   an invocation reduces 4 columns of a row by the operation of constant 0 (ops::RowReduction; 0: sum).
//          dw [rows, columns] is contiguous; groups: ceil(rows * ceil(columns / 4) / 64)
//   TEXELS columns and the row stride are multiples of 4, the column stride is 1
// variants: embedding_vjp: ; embedding_vjp_texel: -DTEXELS ; embedding_vjp_link: -DLINK
// variants: embedding_vjp_link_group: -DLINK -DGROUP
// variants: embedding_vjp_join: -DJOIN ; embedding_vjp_i32: -DINTEGER ; embedding_vjp_f64: -DDOUBLE
// variants: embedding_vjp_i64: -DLONG
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"

#if defined(LINK)
#ifdef GROUP
layout(local_size_x = 256) in;
#else
layout(local_size_x = 8) in; // few invocations work for long: spreads them over the device
#endif

RECORD(embedding_vjp_link)
INPUT(indices) UPDATE(tails) OUTPUT(next)
INT(count) INT(rows) INT(blocks) INT(block_size) INT(index_stride) INT(padding)
END_RECORD

#ifdef GROUP
const uint MOST = 1024u, NONE = 0xFFFFFFFFu;
shared uvec4 row_at[MOST / 4u]; // of the positions of the block; NONE if it is ignored

void main()
{
    const uint count = uint(record.count), rows = uint(record.rows), block = flat_group();
    if (block >= uint(record.blocks)) return;
    const int stride = record.index_stride;
    const uint padding = uint(record.padding), first = block * uint(record.block_size);
    const uint n = min(first + uint(record.block_size), max(count, first)) - first, fours = (n + 3u) / 4u;
    Ints indices = Ints(record.indices.address), tails = Ints(record.tails.address);
    Ints next = Ints(record.next.address);
    for (uint i = gl_LocalInvocationIndex; i < fours * 4u; i += gl_WorkGroupSize.x) {
        const uint row = uint(indices.v[int(first + min(i, n - 1u)) * stride]);
        row_at[i / 4u][i % 4u] = i < n && row < rows && row != padding ? row : NONE;
    }
    barrier();
    for (uint i = gl_LocalInvocationIndex; i < n; i += gl_WorkGroupSize.x) {
        const uint row = row_at[i / 4u][i % 4u];
        uint head = NONE, following = NONE; // the first position of the row, and the first one after i
        for (uint four = 0u; four < fours; ++four) {
            const uvec4 at = four * 4u + uvec4(0u, 1u, 2u, 3u);
            const bvec4 same = equal(row_at[four], uvec4(row)), after = greaterThan(at, uvec4(i));
            const uvec4 members = mix(uvec4(NONE), at, same), later = mix(uvec4(NONE), members, after);
            head = min(head, min(min(members.x, members.y), min(members.z, members.w)));
            following = min(following, min(min(later.x, later.y), min(later.z, later.w)));
        }
        if (row == NONE) continue;
        next.v[first + i] = int(first + (following == NONE ? head : following));
        if (following == NONE) tails.v[block * rows + row] = int(first + i);
    }
}
#else
void main()
{
    const uint count = uint(record.count), rows = uint(record.rows), blocks = uint(record.blocks);
    const uint length = uint(record.block_size);
    const int stride = record.index_stride;
    const uint padding = uint(record.padding);
    Ints indices = Ints(record.indices.address), tails = Ints(record.tails.address);
    Ints next = Ints(record.next.address);
    const uint block = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (block >= blocks)
        return;
    const uint end = min((block + 1u) * length, count);
    for (uint i = block * length; i < end; ++i) {
        const uint row = uint(indices.v[int(i) * stride]);
        if (row < rows && row != padding) {
            const uint place = block * rows + row;
            const int tail = tails.v[place];
            tails.v[place] = int(i);
            next.v[i] = tail < 0 ? int(i) : next.v[max(tail, 0)];
            if (tail >= 0)
                next.v[tail] = int(i);
        }
    }
}
#endif
#elif defined(JOIN)
layout(local_size_x = 64) in;

RECORD(embedding_vjp_join)
UPDATE(tails) UPDATE(next)
INT(rows) INT(blocks)
END_RECORD

void main()
{
    const uint rows = uint(record.rows), blocks = uint(record.blocks);
    Ints tails = Ints(record.tails.address), next = Ints(record.next.address);
    const uint row = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (row >= rows)
        return;
    int last = tails.v[row];
    for (uint block = 1u; block < blocks; ++block) {
        const int tail = tails.v[block * rows + row];
        if (tail >= 0 && last >= 0) {
            const int first = next.v[last];
            next.v[last] = next.v[tail];
            next.v[tail] = first;
        }
        last = tail >= 0 ? tail : last;
    }
    tails.v[row] = last;
}
#else
#include "common/vocabulary.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint HOW = 0;
const uint SUM = 0, PRODUCT = 1, LARGEST = 2;

RECORD(embedding_vjp)
INPUT(dy) INPUT(tails) INPUT(next) OUTPUT(dw)
INT(rows) INT(columns) INT(row_stride) INT(column_stride)
END_RECORD

#if defined(LONG)
#include "common/i64.glsl"
#define ELEMENT uvec2
#define Elements Longs
#elif defined(INTEGER)
#define ELEMENT int
#define Elements Ints
#else
#define ELEMENT REAL
#define Elements Reals
#endif

// Returns the identity element of the reduction.
ELEMENT identity()
{
#if defined(LONG)
    if (HOW == SUM || HOW == PRODUCT) return uvec2(HOW == SUM ? 0u : 1u, 0u);
    // Selects word by word: lavapipe selects only the first word of a vector by a specialization constant.
    return uvec2(HOW == LARGEST ? 0u : 0xFFFFFFFFu, HOW == LARGEST ? 0x80000000u : 0x7FFFFFFFu);
#elif defined(INTEGER)
    if (HOW == SUM || HOW == PRODUCT) return HOW == SUM ? 0 : 1;
    return HOW == LARGEST ? -2147483647 - 1 : 2147483647;
#else
    const float infinite = rp_inf();
    if (HOW == SUM || HOW == PRODUCT) return ELEMENT(HOW == SUM ? 0 : 1);
    return ELEMENT(HOW == LARGEST ? -infinite : infinite);
#endif
}

ELEMENT joined(ELEMENT had, ELEMENT v)
{
#if defined(LONG)
    if (HOW == SUM) return rp_add(had, v);
    if (HOW == PRODUCT) return rp_mul(had, v);
    return HOW == LARGEST ? rp_max(had, v) : rp_min(had, v);
#else
    precise ELEMENT sum = had + v, product = had * v;
    if (HOW == SUM) return sum;
    if (HOW == PRODUCT) return product;
    bool take = HOW == LARGEST ? v > had : v < had;
#ifndef INTEGER
    take = take || rp_is_nan(v); // NaN wins
#endif
    return take ? v : had;
#endif
}

void main()
{
    const uint rows = uint(record.rows), length = uint(record.columns);
    const int row_stride = record.row_stride, column_stride = record.column_stride;
    const Operand dy = record.dy, dw = record.dw;
    Ints tails = Ints(record.tails.address), next = Ints(record.next.address);
    const uint quads = (length + 3u) / 4u;
    const uint quad = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (quad >= rows * quads)
        return;
    const uint row = quotient(quad, quads), column = (quad - row * quads) * 4u;
    ELEMENT row_of[4];
    for (uint c = 0u; c < 4u; ++c) row_of[c] = identity();
    const int last = tails.v[row];
    int i = last;
    if (last >= 0) {
        do {
            i = next.v[i];
#ifdef TEXELS
            const vec4 v = texelFetch(slab, int(dy.texel + uint(i) * uint(row_stride / 4) + column / 4u));
            for (uint c = 0u; c < 4u; ++c) row_of[c] = joined(row_of[c], v[c]);
#else
            Elements from = Elements(dy.address);
            const ivec4 at = i * row_stride + ivec4(min(uvec4(0u, 1u, 2u, 3u) + column, length - 1u)) * column_stride;
            for (uint c = 0u; c < 4u; ++c) row_of[c] = joined(row_of[c], from.v[at[c]]);
#endif
        } while (i != last);
    }
#ifdef TEXELS
    slab_window[WINDOW_OF(dw.texel)].v[IN_WINDOW(dw.texel) + quad] =
        vec4(row_of[0], row_of[1], row_of[2], row_of[3]);
#else
    Elements to = Elements(dw.address);
    for (uint c = column; c < min(column + 4u, length); ++c) to.v[row * length + c] = row_of[c - column];
#endif
}
#endif
