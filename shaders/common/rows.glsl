// Rows of elements along one dimension of strided tensors.  An invocation computes a row; with GROUP 4, 32 or 256
// invocations do, its lanes.  The including file declares the record before it includes this one; its ints are
//
//   INT(columns) INT(rows) INT(lane_bits) INT(x_along) INT(y_along) ...
//   LIST(sizes) LIST(x_strides) LIST(y_strides) ...
//
//   lane_bits  log2 of the lanes of a row; 0 without GROUP
//   along      the operand's stride along the row
//   lists      of KEPT ints each, for the dimensions other than the row's
//   TEXELS     loads and stores use the slab's views; columns is a multiple of 4, strides along the row are 1, the
//              others count texels
//   VEC4       as TEXELS, but by address: for GROUP
//   groups     ceil(rows / 64); with GROUP ceil(rows * lanes / 256)
//
// Numeric class of a row's sum in every variant without GROUP: blocks of 256 consecutive elements; in a block element e
// is added to accumulator e % 4, in order, and the accumulators are added (0 + 1) + (2 + 3); the blocks are added in
// order.  With GROUP: elements 4q to 4q + 3 belong to lane q % lanes.  A lane adds its fours in order, and the four
// sums (0 + 1) + (2 + 3).  The sums of lanes i and i + lanes / 2 are added, then those of i and i + lanes / 4, ...
#include "common/index.glsl"

layout(constant_id = 0) const uint KEPT = 0; // number of dimensions other than the row's

// A loop over a row's elements begins at FIRST and takes 4 elements every NEXT, or those of EACH_4_OF_STEP every STEP:
// lavapipe ends the loops of a shader after 65,535 iterations.  Macros are used since the loop unroller of spirv-opt
// drops NoContraction from its copies.
#ifdef GROUP
#include "common/tree.glsl"
layout(local_size_x = 256) in;
shared float of_lanes[256];
uint lanes, lane; // of a row; set by place()
const uint block = 0u, BLOCK = 0xFFFFFFFFu;
#define EACH_BLOCK(n) // one block, without a branch around the barriers of sum_of_row
#define FIRST (4u * lane)
#define NEXT (4u * lanes)
#define STEP NEXT
#define EACH_4_OF_STEP(F) F(0u)
#else
layout(local_size_x = 64) in;
const uint lane = 0u;
const uint BLOCK = 256u, FIRST = 0u, NEXT = 4u, STEP = 32u;
#define EACH_BLOCK(n) for (uint block = 0u; block < n; block += BLOCK)
#define EACH_4_OF_STEP(F) F(0u) F(4u) F(8u) F(12u) F(16u) F(20u) F(24u) F(28u)
#endif

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
#ifdef GROUP
    const uint bits = uint(record.lane_bits), i = gl_LocalInvocationIndex;
    lanes = 1u << bits;
    lane = i & (lanes - 1u);
    const uint number = flat_group() * (256u >> bits) + (i >> bits), row = min(number, rows - 1u);
#else
    const uint row = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x, number = row;
#endif
    if (KEPT > 0u)
        coordinates(row, KEPT, size, c);
    return number < rows;
}
// Ends an invocation without a row; with GROUP it goes on to the barriers, with no elements.
#ifdef GROUP
#define END_UNLESS(exists, count) if (!(exists)) count = 0u;
#else
#define END_UNLESS(exists, count) if (!(exists)) return;
#endif

// Reduces the values of a row's lanes as a tree.
#ifdef GROUP
#define TREE_OF_LANES(value, combine)           \
    const uint i = gl_LocalInvocationIndex;     \
    of_lanes[i] = value;                        \
    barrier();                                  \
    COMBINE_LANES(combine, i, lane, lanes, 1u)  \
    value = of_lanes[i - lane];                 \
    barrier();
#else
#define TREE_OF_LANES(value, combine)
#endif
precise float sum_of_row(vec4 v)
{
    precise float sum = (v.x + v.y) + (v.z + v.w);
    TREE_OF_LANES(sum, added)
    return sum;
}
float largest_of_row(vec4 v)
{
    float largest = rp_max(rp_max(v.x, v.y), rp_max(v.z, v.w));
    TREE_OF_LANES(largest, rp_max)
    return rp_is_zero(largest) ? 0.0 : largest; // whether it is +0 or -0 would depend on the order
}

// Loads elements e to e + 3; those from n on are replaced by the last element.
vec4 load4(Row row, uint e, uint n)
{
#if defined(TEXELS)
    return texelFetch(slab, int(row.operand.texel + row.at + e / 4u));
#elif defined(VEC4)
    return Vec4s(row.operand.address).v[row.at + e / 4u];
#else
    Floats from = Floats(row.operand.address);
    const uvec4 at = row.at + min(e + uvec4(0u, 1u, 2u, 3u), uvec4(n - 1u)) * row.stride;
    return vec4(from.v[at.x], from.v[at.y], from.v[at.z], from.v[at.w]);
#endif
}
// Replaces elements from n on by 0.
vec4 inside(vec4 v, uint e, uint n)
{
#if defined(TEXELS) || defined(VEC4)
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
#if defined(TEXELS)
    const uint first = row.operand.texel;
    slab_window[WINDOW_OF(first)].v[IN_WINDOW(first) + row.at + e / 4u] = v;
#elif defined(VEC4)
    Vec4s(row.operand.address).v[row.at + e / 4u] = v;
#else
    Floats to = Floats(row.operand.address);
    uint at = row.at + e * row.stride;
    to.v[at] = v.x;
    if (e + 1u < n) to.v[at + row.stride] = v.y;
    if (e + 2u < n) to.v[at + 2u * row.stride] = v.z;
    if (e + 3u < n) to.v[at + 3u * row.stride] = v.w;
#endif
}

// Stores elements e to e + 3 of the kernel's result, which with CHAIN are whole rows from the start of its value.
#ifdef CHAIN // kernels/fused_text.cpp: finish() computes a chain of an element and stores its results
void store4_result(Row row, uint e, uint n, vec4 v)
{
#ifdef VEC4
    finish4((row.at + e / 4u) * 4u, e, v);
#else
    const uint at = row.at + e;
    finish(at, e, v.x);
    if (e + 1u < n) finish(at + 1u, e + 1u, v.y);
    if (e + 2u < n) finish(at + 2u, e + 2u, v.z);
    if (e + 3u < n) finish(at + 3u, e + 3u, v.w);
#endif
}
#else
#define store4_result store4
#endif

precise vec4 exponential(vec4 v) { return vec4(rp_exp(v.x), rp_exp(v.y), rp_exp(v.z), rp_exp(v.w)); }
