// The order of the elements of each line of [outer, n, inner], by keys of their bits that compare as the elements
// do: NaN behind all, -0 and 0 alike.  Equal elements keep their order.  What a launch does depends on
// sizes only.
//
//   sort_short    counts for each element which ones stand before it: lines of at most 256.
//                 operands x, values, indices;  ints outer, n, inner, count
//                 groups   ceil(outer n inner / 64)
//   sort_blocks   the same in runs of 64 of a line; keys and indices are [outer * inner, n].
//                 operands x, keys, indices;    ints outer, n, inner, most = min(count, 64)
//                 groups   ceil(outer n inner / 64)
//   sort_merge    four sorted runs of `width` become one: an element goes behind all that stand before it in each.
//                 operands keys, indices, keys and indices after it
//                 ints     lines, n, width, runs, most = min(count, width), most_after = min(count, 4 width)
//                 groups   ceil(lines runs most / 64)
//   sort_finish   operands x, indices of an even and of an odd number of merges, values, indices
//                 ints     outer, n, inner, count, whether the number of merges is odd
//                 groups   ceil(outer count inner / 64)
//   sort_put      dx[index] = dy, each index once in its line; what is not named stays.
//                 operands dy, indices, dx;     ints outer, n, inner, count
//                 groups   ceil(outer count inner / 64)
// Of each line the first `count` elements are wanted: a run keeps no more.  All tensors are contiguous.
// variants: sort_short: -DSHORT ; sort_blocks: -DBLOCKS ; sort_merge: -DMERGE ; sort_finish: -DFINISH
// variants: sort_put: -DPUT
// variants: sort_short_wide: -DWIDE -DSHORT ; sort_blocks_wide: -DWIDE -DBLOCKS ; sort_merge_wide: -DWIDE -DMERGE
// variants: sort_finish_wide: -DWIDE -DFINISH ; sort_put_wide: -DWIDE -DPUT
#version 460
#extension GL_GOOGLE_include_directive : require
#if defined(FINISH)
#define OPERANDS 5
#elif defined(MERGE)
#define OPERANDS 4
#else
#define OPERANDS 3
#endif
#define FLOATS 0
#include "common/abi.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint IS_FLOAT = 0;
layout(constant_id = 1) const uint DESCENDING = 0;

#define KEY CELL
#define Keys Cells
#ifdef WIDE // low word, high word
bool precedes(uvec2 a, uvec2 b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }

uvec2 key_of(uvec2 bits)
{
    const uvec2 sign = uvec2(0u, 0x80000000u), size = bits & ~sign;
    const uvec2 of_sign = (bits.y & sign.y) != 0u ? ~bits : bits | sign;
    const uvec2 of_zero = size == uvec2(0u) ? sign : of_sign;
    const uvec2 of_float = precedes(uvec2(0u, 0x7FF00000u), size) ? uvec2(0xFFFFFFFFu) : of_zero;
    const uvec2 key = IS_FLOAT != 0u ? of_float : bits ^ sign;
    return DESCENDING != 0u ? ~key : key;
}
#else
bool precedes(uint a, uint b) { return a < b; }

uint key_of(uint bits)
{
    const uint size = bits & 0x7FFFFFFFu;
    const uint of_sign = (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u;
    const uint of_zero = size == 0u ? 0x80000000u : of_sign;
    const uint of_float = size > 0x7F800000u ? 0xFFFFFFFFu : of_zero;
    const uint key = IS_FLOAT != 0u ? of_float : bits ^ 0x80000000u;
    return DESCENDING != 0u ? ~key : key;
}
#endif

void main()
{
    const uint invocation = flat_group() * 64u + gl_LocalInvocationID.x;
#if defined(MERGE)
    const uint lines = uint(record.n[0]), n = uint(record.n[1]), width = uint(record.n[2]);
    const uint runs = uint(record.n[3]), most = uint(record.n[4]), most_after = uint(record.n[5]);
    Keys keys = Keys(record.operand[0].address), keys_after = Keys(record.operand[2].address);
    Words indices = Words(record.operand[1].address), indices_after = Words(record.operand[3].address);
    if (invocation >= lines * runs * most)
        return;
    const uint line_run = quotient(invocation, most), e = invocation - line_run * most;
    const uint line = quotient(line_run, runs), run = line_run - line * runs;
    const uint at = line * n + run * width + e;
    if (run * width + e >= n)
        return;
    const KEY key = keys.v[at];
    const uint first = run & ~3u;
    uint place = e;
    for (uint r = first; r < min(first + 4u, runs); ++r) {
        if (r != run) {
            const uint from = line * n + r * width;
            uint low = 0u, high = min(most, n - r * width);
            while (low < high) {
                const uint middle = (low + high) >> 1;
                const KEY other = keys.v[from + middle];
                const bool before = precedes(other, key) || (other == key && r < run);
                low = before ? middle + 1u : low;
                high = before ? high : middle;
            }
            place += low;
        }
    }
    if (place < most_after) {
        const uint to = line * n + first * width + place;
        keys_after.v[to] = key;
        indices_after.v[to] = indices.v[at];
    }
#elif defined(FINISH) || defined(PUT)
    const uint outer = uint(record.n[0]), n = uint(record.n[1]), inner = uint(record.n[2]);
    const uint count = uint(record.n[3]);
    Keys from = Keys(record.operand[0].address);
#ifdef FINISH
    const bool odd = record.n[4] != 0;
    const uvec2 even_indices = record.operand[1].address, odd_indices = record.operand[2].address;
    Keys values = Keys(record.operand[3].address);
    Words indices = Words(record.operand[4].address);
#else
    Words indices = Words(record.operand[1].address);
    Keys to = Keys(record.operand[2].address);
#endif
    if (invocation >= outer * count * inner)
        return;
    const uint row = quotient(invocation, inner), k = invocation - row * inner;
    const uint o = quotient(row, count), e = row - o * count;
#ifdef FINISH
    Words sorted = Words(odd ? odd_indices : even_indices);
    const uint index = sorted.v[(o * inner + k) * n + e];
    indices.v[invocation] = index;
    values.v[invocation] = from.v[(o * n + index) * inner + k];
#else
    to.v[(o * n + indices.v[invocation]) * inner + k] = from.v[invocation];
#endif
#else
    const uint outer = uint(record.n[0]), n = uint(record.n[1]), inner = uint(record.n[2]);
    const uint most = uint(record.n[3]);
    Keys x = Keys(record.operand[0].address), values = Keys(record.operand[1].address);
    Words indices = Words(record.operand[2].address);
    if (invocation >= outer * n * inner)
        return;
    const uint row = quotient(invocation, inner), k = invocation - row * inner;
    const uint o = quotient(row, n), e = row - o * n;
#ifdef BLOCKS
    const uint first = e & ~63u, end = min(first + 64u, n);
#else
    const uint first = 0u, end = n;
#endif
    const KEY key = key_of(x.v[invocation]);
    uint place = 0u;
    uint at = (o * n + first) * inner + k;
    for (uint other = first; other < end; ++other) {
        const KEY of_other = key_of(x.v[at]);
        place += precedes(of_other, key) || (of_other == key && other < e) ? 1u : 0u;
        at += inner;
    }
    if (place < most) {
#ifdef BLOCKS
        const uint to = (o * inner + k) * n + first + place;
        values.v[to] = key;
#else
        const uint to = (o * most + place) * inner + k;
        values.v[to] = x.v[invocation];
#endif
        indices.v[to] = e;
    }
#endif
}
