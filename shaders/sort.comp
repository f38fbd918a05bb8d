// Sorts each line of [outer, n, inner] (a stable merge sort) by integer keys of the elements' bits, which compare like
// the elements: NaN after all others, -0 equal to 0.  The work of a launch depends on sizes only.
//
//   sort_short    lines of at most 256: counts for each element the elements that precede it.
//                 groups   ceil(outer n inner / 64)
//   sort_blocks   the same for runs of 64 of a line; keys and indices are [outer * inner, n]; most = min(count, 64).
//                 groups   ceil(outer n inner / 64)
//   sort_merge    merges four sorted runs of `width`: the position of an element is the number of elements that precede
//                 it in all four; most = min(count, width), most_after = min(count, 4 width).
//                 groups   ceil(lines runs most / 64)
//   sort_finish   reads the indices after an even or odd number of merges; odd: whether the number of merges is odd.
//                 groups   ceil(outer count inner / 64)
//   sort_put      dx[index] = dy; indices are unique in their line; other elements of dx do not change.
//                 groups   ceil(outer count inner / 64)
// Only the first `count` elements of each sorted line are needed; runs are cut to that size.  Tensors are contiguous.
// variants: sort_short: -DSHORT ; sort_blocks: -DBLOCKS ; sort_merge: -DMERGE ; sort_finish: -DFINISH
// variants: sort_put: -DPUT
// variants: sort_short_wide: -DWIDE -DSHORT ; sort_blocks_wide: -DWIDE -DBLOCKS ; sort_merge_wide: -DWIDE -DMERGE
// variants: sort_finish_wide: -DWIDE -DFINISH ; sort_put_wide: -DWIDE -DPUT
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint IS_FLOAT = 0;
layout(constant_id = 1) const uint DESCENDING = 0;

#if defined(SHORT)
RECORD(sort_short)
INPUT(x) OUTPUT(values) OUTPUT(indices)
INT(outer) INT(n) INT(inner) INT(count)
END_RECORD
#elif defined(BLOCKS)
RECORD(sort_blocks)
INPUT(x) OUTPUT(keys) OUTPUT(indices)
INT(outer) INT(n) INT(inner) INT(most)
END_RECORD
#elif defined(MERGE)
RECORD(sort_merge)
INPUT(keys) INPUT(indices) OUTPUT(keys_after) OUTPUT(indices_after)
INT(lines) INT(n) INT(width) INT(runs) INT(most) INT(most_after)
END_RECORD
#elif defined(FINISH)
RECORD(sort_finish)
INPUT(x) INPUT(even_indices) INPUT(odd_indices) OUTPUT(values) OUTPUT(indices)
INT(outer) INT(n) INT(inner) INT(count) INT(odd)
END_RECORD
#else
RECORD(sort_put)
INPUT(dy) INPUT(indices) OUTPUT(dx)
INT(outer) INT(n) INT(inner) INT(count)
END_RECORD
#endif

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

// The position of an element of [outer, n, inner].
struct Position {
    uint o, e, k;
};
Position position_of(uint element, uint n, uint inner)
{
    const uint row = quotient(element, inner), o = quotient(row, n);
    return Position(o, row - o * n, element - row * inner);
}

#if defined(MERGE)
// Returns how many of `count` sorted keys, which start at `from`, precede `key`; equal ones do if `earlier`.
uint count_preceding(Keys keys, uint from, uint count, KEY key, bool earlier)
{
    uint low = 0u, high = count;
    while (low < high) {
        const uint middle = (low + high) >> 1;
        const KEY other = keys.v[from + middle];
        const bool before = precedes(other, key) || (other == key && earlier);
        low = before ? middle + 1u : low;
        high = before ? high : middle;
    }
    return low;
}

void main()
{
    const uint lines = uint(record.lines), n = uint(record.n), width = uint(record.width);
    const uint runs = uint(record.runs), most = uint(record.most), most_after = uint(record.most_after);
    Keys keys = Keys(record.keys.address), keys_after = Keys(record.keys_after.address);
    Words indices = Words(record.indices.address), indices_after = Words(record.indices_after.address);
    const uint invocation = flat_group() * 64u + gl_LocalInvocationID.x;
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
        if (r != run)
            place += count_preceding(keys, line * n + r * width, min(most, n - r * width), key, r < run);
    }
    if (place < most_after) {
        const uint to = line * n + first * width + place;
        keys_after.v[to] = key;
        indices_after.v[to] = indices.v[at];
    }
}
#elif defined(FINISH)
void main()
{
    const uint outer = uint(record.outer), n = uint(record.n), inner = uint(record.inner);
    const uint count = uint(record.count);
    Keys from = Keys(record.x.address);
    const bool odd = record.odd != 0;
    const uvec2 even_indices = record.even_indices.address, odd_indices = record.odd_indices.address;
    Keys values = Keys(record.values.address);
    Words indices = Words(record.indices.address);
    const uint invocation = flat_group() * 64u + gl_LocalInvocationID.x;
    if (invocation >= outer * count * inner)
        return;
    const Position p = position_of(invocation, count, inner);
    Words sorted = Words(odd ? odd_indices : even_indices);
    const uint index = sorted.v[(p.o * inner + p.k) * n + p.e];
    indices.v[invocation] = index;
    values.v[invocation] = from.v[(p.o * n + index) * inner + p.k];
}
#elif defined(PUT)
void main()
{
    const uint outer = uint(record.outer), n = uint(record.n), inner = uint(record.inner);
    const uint count = uint(record.count);
    Keys from = Keys(record.dy.address);
    Words indices = Words(record.indices.address);
    Keys to = Keys(record.dx.address);
    const uint invocation = flat_group() * 64u + gl_LocalInvocationID.x;
    if (invocation >= outer * count * inner)
        return;
    const Position p = position_of(invocation, count, inner);
    to.v[(p.o * n + indices.v[invocation]) * inner + p.k] = from.v[invocation];
}
#else
// Returns how many elements first to end - 1 of the line of element `p` precede it, in a stable order.
uint count_preceding(Keys x, Position p, KEY key, uint first, uint end, uint n, uint inner)
{
    const uint e = p.e; // a local, as glslang compiles && to a branch if it reads a member
    uint count = 0u;
    uint at = (p.o * n + first) * inner + p.k;
    for (uint other = first; other < end; ++other) {
        const KEY of_other = key_of(x.v[at]);
        count += precedes(of_other, key) || (of_other == key && other < e) ? 1u : 0u;
        at += inner;
    }
    return count;
}

void main()
{
    const uint outer = uint(record.outer), n = uint(record.n), inner = uint(record.inner);
#ifdef BLOCKS
    const uint most = uint(record.most);
    Keys x = Keys(record.x.address), values = Keys(record.keys.address);
#else
    const uint most = uint(record.count);
    Keys x = Keys(record.x.address), values = Keys(record.values.address);
#endif
    Words indices = Words(record.indices.address);
    const uint invocation = flat_group() * 64u + gl_LocalInvocationID.x;
    if (invocation >= outer * n * inner)
        return;
    const Position p = position_of(invocation, n, inner);
#ifdef BLOCKS
    const uint first = p.e & ~63u, end = min(first + 64u, n);
#else
    const uint first = 0u, end = n;
#endif
    const KEY key = key_of(x.v[invocation]);
    const uint place = count_preceding(x, p, key, first, end, n, inner);
    if (place < most) {
#ifdef BLOCKS
        const uint to = (p.o * inner + p.k) * n + first + place;
        values.v[to] = key;
#else
        const uint to = (p.o * most + place) * inner + p.k;
        values.v[to] = x.v[invocation];
#endif
        indices.v[to] = p.e;
    }
}
#endif
