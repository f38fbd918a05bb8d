// pad: adds a value before and after x along one dimension.
//   x         [outer, x_size, inner], y [outer, size, inner]; both contiguous
//   value     the bits of the value: two ints for 64-bit elements, the low one first
//   groups    ceil(outer * size * inner / 256); an invocation writes 4 elements = whole words
//   constant  0: bytes of an element (1, 2 or 4); not read by pad_wide, whose elements have 8
// variants: pad: ; pad_wide: -DWIDE
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint BYTES = 4;

RECORD(pad)
INPUT(x) OUTPUT(y)
INT(outer) INT(x_size) INT(size) INT(start) INT(inner)
LIST(value)
END_RECORD

void main()
{
    Cells from = Cells(record.x.address), to = Cells(record.y.address);
    const uint outer = uint(record.outer), length = uint(record.x_size), size = uint(record.size),
               start = uint(record.start), inner = uint(record.inner);
#ifdef WIDE
    const uvec2 filling = uvec2(record.lists[0], record.lists[1]);
#else
    const uint filling = uint(record.lists[0]);
#endif
    const uint first = (flat_group() * 64u + gl_LocalInvocationID.x) * 4u, count = outer * size * inner;
    if (first >= count) return;
    uint word = 0u;
    for (uint e = 0u; e < 4u; ++e) {
        const uint i = min(first + e, count - 1u), row = quotient(i, inner), k = i - row * inner;
        const uint o = quotient(row, size), at = row - o * size;
        CELL value = filling;
#ifdef WIDE
        if (at >= start && at < start + length) value = from.v[(o * length + at - start) * inner + k];
        if (first + e < count) to.v[first + e] = value;
#else
        if (at >= start && at < start + length) {
            const uint byte = ((o * length + at - start) * inner + k) * BYTES;
            value = from.v[byte >> 2] >> ((byte & 3u) * 8u);
        }
        if (BYTES == 4u) {
            if (first + e < count) to.v[first + e] = value;
            continue;
        }
        const uint mask = BYTES == 2u ? 0xFFFFu : 0xFFu, slot = (e * BYTES) & 3u;
        word |= (value & mask) << (slot * 8u);
        if (slot + BYTES == 4u) {
            to.v[((first + e) * BYTES) >> 2] = word;
            word = 0u;
        }
#endif
    }
}
