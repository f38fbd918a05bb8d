// Rows of elements along one dimension of strided tensors, one invocation per row.  The including file declares the
// record before it includes this one; its ints are
//
//   INT(columns) INT(rows) INT(x_along) INT(y_along) ...
//   LIST(sizes) LIST(x_strides) LIST(y_strides) ...
//
//   along      the operand's stride along the row
//   lists      of KEPT ints each, for the dimensions other than the row's
//   TEXELS     loads and stores use the slab's views; columns is a multiple of 4, strides along the row are 1, the
//              others count texels
//   groups     ceil(rows / 64)
//
// Numeric class of a row's sum, in every variant: blocks of 256 consecutive elements; in a block element e is added to
// accumulator e % 4, in order, and the accumulators are added (0 + 1) + (2 + 3); the blocks are added in order.
#include "common/index.glsl"

layout(local_size_x = 64) in;

layout(constant_id = 0) const uint KEPT = 0; // number of dimensions other than the row's

const uint BLOCK = 256u;
// Elements per iteration, in steps of 4, as lavapipe ends the loops of a shader after 65,535 iterations.  Macros are
// used since the loop unroller of spirv-opt drops NoContraction from its copies.
const uint STEP = 32u;
#define EACH_4_OF_STEP(F) F(0u) F(4u) F(8u) F(12u) F(16u) F(20u) F(24u) F(28u)

struct Row {
    Operand operand;
    uint at;     // offset of the first element, in texels or elements
    uint stride; // in elements
};

// Returns the row of an operand, whose strides are the k-th list.
Row row_of(Operand operand, int along, uint k, uint c[MAX_RANK])
{
    Row row;
    row.operand = operand;
    row.stride = uint(along);
    int strides[MAX_RANK];
    for (uint d = 0u; d < KEPT; ++d) strides[d] = record.lists[KEPT * (k + 1u) + d];
    row.at = 0u;
    if (KEPT > 0u)
        row.at = offset(KEPT, c, strides);
    return row;
}

// Computes the number of columns and the coordinates of this invocation's row; returns false after the last row.
bool place(out uint n, out uint c[MAX_RANK])
{
    n = uint(record.columns);
    const uint rows = uint(record.rows);
    uint size[MAX_RANK];
    for (uint d = 0u; d < KEPT; ++d) size[d] = uint(record.lists[d]);
    const uint row = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (KEPT > 0u)
        coordinates(row, KEPT, size, c);
    return row < rows;
}

// Loads elements e to e + 3; those from n on are replaced by the last element.
vec4 load4(Row row, uint e, uint n)
{
#ifdef TEXELS
    return texelFetch(slab, int(row.operand.texel + row.at + e / 4u));
#else
    Floats from = Floats(row.operand.address);
    const uvec4 at = row.at + min(e + uvec4(0u, 1u, 2u, 3u), uvec4(n - 1u)) * row.stride;
    return vec4(from.v[at.x], from.v[at.y], from.v[at.z], from.v[at.w]);
#endif
}
// Replaces elements from n on by 0.
vec4 inside(vec4 v, uint e, uint n)
{
#ifdef TEXELS
    return v;
#else
    return vec4(v.x, e + 1u < n ? v.y : 0.0, e + 2u < n ? v.z : 0.0, e + 3u < n ? v.w : 0.0);
#endif
}
// Replaces elements from `count` on by `other`.
vec4 first(vec4 v, uint e, uint count, float other)
{
    return mix(vec4(other), v, lessThan(e + uvec4(0u, 1u, 2u, 3u), uvec4(count)));
}
void store4(Row row, uint e, uint n, vec4 v)
{
#ifdef TEXELS
    const uint first = row.operand.texel;
    slab_window[WINDOW_OF(first)].v[IN_WINDOW(first) + row.at + e / 4u] = v;
#else
    Floats to = Floats(row.operand.address);
    uint at = row.at + e * row.stride;
    to.v[at] = v.x;
    if (e + 1u < n) to.v[at + row.stride] = v.y;
    if (e + 2u < n) to.v[at + 2u * row.stride] = v.z;
    if (e + 3u < n) to.v[at + 3u * row.stride] = v.w;
#endif
}

precise vec4 exponential(vec4 v) { return vec4(rp_exp(v.x), rp_exp(v.y), rp_exp(v.z), rp_exp(v.w)); }
