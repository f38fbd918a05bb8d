// Shared by the attention kernels that store no matrix of weights.  Each lane computes one row and iterates over the
// rows of the other side, four at a time; all lanes of a workgroup read the same ones.
//
// `kept_scale` multiplies the weights that dropout retains.  A mask has queries as rows and keys as columns.
//
// The score of a row is summed over features: feature e is added to accumulator e % 4, in order, and the accumulators
// are added (0 + 1) + (2 + 3).  Rows of the other side are processed in order, four sums at a time (0 + 1) + (2 + 3).
#include "common/index.glsl"

layout(local_size_x = 64) in;

struct AttentionSizes {
    int queries, keys;
    int heads;    // of queries
    int key_heads;
    int features; // of a query and of a key
    int value_features;
    int all_heads; // of all batches, of the side with one row per lane
};
struct Strides {
    int batch, head, row, column;
};
struct RowStrides {
    int batch, head, row;
};
#define UVEC4(s) uvec4(s.batch, s.head, s.row, s.column)
#define UVEC3(s) uvec3(s.batch, s.head, s.row)

layout(constant_id = 0) const uint E4 = 1;      // groups of four features of a query and of a key, padded with zeros
layout(constant_id = 1) const uint F4 = 1;      // of a value
#ifndef MOST_FOURS // upper bound of both, for compilers that do not see specialization constants as constants
#define ROOM_E4 E4
#define ROOM_F4 F4
#else
#define ROOM_E4 MOST_FOURS
#define ROOM_F4 MOST_FOURS
#endif
layout(constant_id = 2) const uint CAUSAL = 0;  // key s takes part for queries t >= s
layout(constant_id = 3) const uint MASK = 0;    // 1: truth (i32), 2: numbers
layout(constant_id = 4) const uint DROPOUT = 0;

#ifdef TEXELS
#define ROW(from, at) texelFetch(slab, int((from).texel + (at)))
#else
#define ROW(from, at) Vec4s((from).address).v[at]
#endif

// Returns elements e to e + 3 of a row of n elements; 0 after its end.
vec4 own4(Floats from, uint at, uint stride, uint e, uint n)
{
    vec4 v = vec4(0.0);
    if (e < n) v.x = from.v[at + e * stride];
    if (e + 1u < n) v.y = from.v[at + (e + 1u) * stride];
    if (e + 2u < n) v.z = from.v[at + (e + 2u) * stride];
    if (e + 3u < n) v.w = from.v[at + (e + 3u) * stride];
    return v;
}
void put4(Floats to, uint at, uint e, uint n, vec4 v)
{
    if (e < n) to.v[at + e] = v.x;
    if (e + 1u < n) to.v[at + e + 1u] = v.y;
    if (e + 2u < n) to.v[at + e + 2u] = v.z;
    if (e + 3u < n) to.v[at + e + 3u] = v.w;
}
float lanes(vec4 v)
{
    precise float sum = (v.x + v.y) + (v.z + v.w);
    return sum;
}

float masked(float score, uvec2 mask, uint at)
{
    precise float s = score;
    if (MASK == 1u) {
        s = Ints(mask).v[at] != 0 ? s : -rp_inf();
    } else if (MASK == 2u) {
        s += Floats(mask).v[at];
    }
    return s;
}

vec4 exponential(vec4 v) { return vec4(rp_exp(v.x), rp_exp(v.y), rp_exp(v.z), rp_exp(v.w)); }
