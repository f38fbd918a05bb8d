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

void main()
{
    const uint invocation = flat_group() * 64u + gl_LocalInvocationID.x;
#if defined(MERGE)
    const uint lines = uint(record.lines), n = uint(record.n), width = uint(record.width);
    const uint runs = uint(record.runs), most = uint(record.most), most_after = uint(record.most_after);
    Keys keys = Keys(record.keys.address), keys_after = Keys(record.keys_after.address);
    Words indices = Words(record.indices.address), indices_after = Words(record.indices_after.address);
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
    const uint outer = uint(record.outer), n = uint(record.n), inner = uint(record.inner);
    const uint count = uint(record.count);
#ifdef FINISH
    Keys from = Keys(record.x.address);
    const bool odd = record.odd != 0;
    const uvec2 even_indices = record.even_indices.address, odd_indices = record.odd_indices.address;
    Keys values = Keys(record.values.address);
    Words indices = Words(record.indices.address);
#else
    Keys from = Keys(record.dy.address);
    Words indices = Words(record.indices.address);
    Keys to = Keys(record.dx.address);
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
    const uint outer = uint(record.outer), n = uint(record.n), inner = uint(record.inner);
#ifdef BLOCKS
    const uint most = uint(record.most);
    Keys x = Keys(record.x.address), values = Keys(record.keys.address);
#else
    const uint most = uint(record.count);
    Keys x = Keys(record.x.address), values = Keys(record.values.address);
#endif
    Words indices = Words(record.indices.address);
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
