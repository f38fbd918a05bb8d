#version 460
// y[o][i][k] = x[o][i + s][k] if that is inside of x, else a given value; s = direction * start[o].
//
//   x          [outer, x_size, inner], start [outer] (i32), y [outer, y_size, inner]; all contiguous
//   direction  1 or -1
//   value      its bits; for 64-bit elements two ints, the low one first
//   groups     ceil(outer * y_size * inner / 256): an invocation writes 4 elements, which are whole words
//   constants  bytes per element (1, 2 or 4; dynamic_shift_wide has 8 and does not read it); whether the 4 elements of
//              an invocation are contiguous in x (inner is a multiple of 4, elements have 4 bytes)
// variants: dynamic_shift: ; dynamic_shift_wide: -DWIDE
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint BYTES = 4;
layout(constant_id = 1) const uint QUADS = 0;

RECORD(dynamic_shift)
INPUT(x) INPUT(start) OUTPUT(y)
INT(outer) INT(x_size) INT(y_size) INT(inner) INT(direction)
LIST(value)
END_RECORD

void main()
{
    const uint outer = uint(record.outer), size = uint(record.x_size), length = uint(record.y_size);
    const uint inner = uint(record.inner), value = uint(record.lists[0]);
    const bool back = record.direction < 0;
    const Operand x = record.x, start = record.start, y = record.y;
    Cells from = Cells(x.address), to = Cells(y.address);
    const uint first = (flat_group() * 64u + gl_LocalInvocationID.x) * 4u, count = outer * length * inner;
    if (first >= count)
        return;
    uint word = 0u;
    for (uint e = 0u; e < 4u; ++e) {
        const uint element = min(first + e, count - 1u), row = quotient(element, inner), o = quotient(row, length);
        const uint i = row - o * length, k = element - row * inner;
        // The shift is split in two, so that nothing overflows: forward by `ahead`, back by `behind`.
        const int given = max(Ints(start.address).v[o], -0x7FFFFFFF);
        const int s = back ? -given : given;
        const uint ahead = uint(clamp(s, 0, int(size))), behind = uint(clamp(-s, 0, int(length)));
        const uint at = i + ahead - behind;
        const bool inside = i >= behind && at < size;
        const uint place = inside ? (o * size + at) * inner + k : 0u;
#ifdef WIDE
        CELL bits = uvec2(record.lists[0], record.lists[1]);
        if (inside) bits = from.v[place];
        if (first + e < count) to.v[first + e] = bits;
#else
        if (QUADS != 0u) {
            const uvec4 fill = uvec4(value);
            if (inside)
                Vec4s(y.address).v[first >> 2] = Vec4s(x.address).v[place >> 2];
            else
                Vec4s(y.address).v[first >> 2] = uintBitsToFloat(fill);
            return;
        }
        uint bits = value;
        if (inside)
            bits = from.v[place * BYTES >> 2] >> ((place * BYTES & 3u) * 8u);
        if (BYTES == 4u) {
            if (first + e < count)
                to.v[first + e] = bits;
            continue;
        }
        const uint mask = BYTES == 2u ? 0xFFFFu : 0xFFu, slot = e * BYTES & 3u;
        word |= (bits & mask) << (slot * 8u);
        if (slot + BYTES == 4u) {
            to.v[(first + e) * BYTES >> 2] = word;
            word = 0u;
        }
#endif
    }
}
