#version 460
// Copies words, or pairs of them (WIDE), between any strides: an input of cat to its part of the output.
//
//   sizes, strides  of RANK dimensions, outermost first
//   constants  0: RANK
//   groups     ceil(count / 256): an invocation copies 4 elements
//   TEXELS     the innermost size is a multiple of 4, its strides are 1, and the other strides multiples of 4
// variants: cat: ; cat_texel: -DTEXELS ; cat_wide: -DWIDE
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"

RECORD(cat)
INPUT(x) OUTPUT(y)
INT(count)
LIST(sizes) LIST(x_strides) LIST(y_strides)
END_RECORD

layout(local_size_x = 64) in;

layout(constant_id = 0) const uint RANK = 0;

void main()
{
    const uint count = uint(record.count);
    const Operand x = record.x, y = record.y;
    uint size[MAX_RANK], c[MAX_RANK];
    int from_stride[MAX_RANK], to_stride[MAX_RANK];
    for (uint d = 0u; d < RANK; ++d) {
        size[d] = uint(record.lists[d]);
        from_stride[d] = record.lists[RANK + d];
        to_stride[d] = record.lists[2u * RANK + d];
    }
    const uint first = (flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x) * 4u;
    if (first >= count)
        return;
    uint from = 0u, to = 0u;
    if (RANK > 0u)
        coordinates(first, RANK, size, c);
#ifdef TEXELS
    from = offset(RANK, c, from_stride);
    to = offset(RANK, c, to_stride);
    slab_window[WINDOW_OF(y.texel)].v[IN_WINDOW(y.texel) + to / 4u] = texelFetch(slab, int(x.texel + from / 4u));
#else
    Cells source = Cells(x.address), target = Cells(y.address);
    for (uint i = first; i < min(first + 4u, count); ++i) {
        if (RANK > 0u) {
            from = offset(RANK, c, from_stride);
            to = offset(RANK, c, to_stride);
            advance(1u, RANK, size, c);
        }
        target.v[to] = source.v[from];
    }
#endif
}
