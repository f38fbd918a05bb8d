// strided_copy: copies a tensor with any number of dimensions in row-major order.  Tensors that have more dimensions
// after merging than common/index.glsl supports are first copied by this kernel.
//   y         contiguous
//   sizes, strides  of `rank` dimensions, outermost first
//   groups    ceil(count / 256); an invocation writes 4 elements = whole words
//   constant  0: bytes of an element (1, 2 or 4; 8 with WIDE)
// variants: strided_copy: ; strided_copy_wide: -DWIDE
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint BYTES = 4;

RECORD(strided_copy)
INPUT(x) OUTPUT(y)
INT(count) INT(rank)
LIST(sizes) LIST(strides)
END_RECORD

// Returns the offset in x of element i of y.
uint place(uint i, uint rank)
{
    int sum = 0;
    for (uint k = 0u; k < rank; ++k) {
        const uint d = rank - 1u - k, size = uint(record.lists[d]), outer = quotient(i, size);
        sum += int(i - outer * size) * record.lists[rank + d];
        i = outer;
    }
    return uint(sum);
}

void main()
{
    const uint count = uint(record.count), rank = uint(record.rank);
    const Operand x = record.x, y = record.y;
    const uint first = (flat_group() * 64u + gl_LocalInvocationID.x) * 4u;
    if (first >= count) return;
#ifdef WIDE
    for (uint i = first; i < min(first + 4u, count); ++i) Cells(y.address).v[i] = Cells(x.address).v[place(i, rank)];
#else
    // The first element of a narrow dtype may begin inside of a word.
    const uint inside = x.address.x & 3u;
    Words from = Words(uvec2(x.address.x & ~3u, x.address.y)), to = Words(y.address);
    uint word = 0u;
    for (uint e = 0u; e < 4u; ++e) {
        const uint byte = inside + place(min(first + e, count - 1u), rank) * BYTES;
        const uint value = from.v[byte >> 2] >> ((byte & 3u) * 8u);
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
    }
#endif
}
