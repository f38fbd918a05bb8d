// Attention on CPUs: each lane computes one row and iterates over the rows of the other side, four at a time; all lanes
// of a workgroup read the same ones.
//
// The score of a row is summed over features: feature e is added to accumulator e % 4, in order, and the accumulators
// are added (0 + 1) + (2 + 3).  Rows of the other side are processed in order, four sums at a time (0 + 1) + (2 + 3).
// Arrays stay in main: spirv-opt keeps the copy of an argument whose size is a specialization constant.
#include "common/attention.glsl"

layout(local_size_x = 64) in;

layout(constant_id = 3) const uint E4 = 1;      // groups of four features of a query and of a key, padded with zeros
layout(constant_id = 4) const uint F4 = 1;      // of a value

#ifdef TEXELS
#define ROW(from, at) texelFetch(slab, int((from).texel + (at)))
#else
#define ROW(from, at) ReadVec4s((from).address).v[at]
#endif

// The row that this lane computes, in head `head_of_all` of all batches.
struct Place {
    uint head_of_all, row;
    uint first; // row of the workgroup's first lane
};
Place place_of_lane(uint rows)
{
    const uint tiles = (rows + 63u) / 64u, group = flat_group(), head_of_all = quotient(group, tiles);
    const uint first = (group - head_of_all * tiles) * 64u;
    return Place(head_of_all, first + gl_LocalInvocationID.x, first);
}
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
vec4 load4(Floats from, uvec4 at) { return vec4(from.v[at.x], from.v[at.y], from.v[at.z], from.v[at.w]); }

// The same four features of four rows of the other side; or the sums of a score's four accumulators for each.
struct Four {
    vec4 a, b, c, d;
};
Four zeros() { return Four(vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0)); }
Four load_rows(Operand from, uvec4 at)
{
    return Four(ROW(from, at.x), ROW(from, at.y), ROW(from, at.z), ROW(from, at.w));
}
// Adds the products of four features of this lane's row with those of the rows.
void add_products(inout Four sums, vec4 own, Four rows)
{
    precise vec4 a = sums.a + own * rows.a, b = sums.b + own * rows.b;
    precise vec4 c = sums.c + own * rows.c, d = sums.d + own * rows.d;
    sums = Four(a, b, c, d);
}
vec4 totals(Four sums) { return vec4(lanes(sums.a), lanes(sums.b), lanes(sums.c), lanes(sums.d)); }
// Returns the sum of the rows, multiplied by a weight each.
vec4 weighted_sum(vec4 weights, Four rows)
{
    precise vec4 sum = (weights.x * rows.a + weights.y * rows.b) + (weights.z * rows.c + weights.w * rows.d);
    return sum;
}

// Returns the scores of four rows from their products with this lane's row.  Its elements of the mask begin
// at `mask_at` and are `stride` apart.
vec4 scores(Four products, float scale, uvec2 mask, uint mask_at, uvec4 row, uint stride)
{
    precise vec4 score = totals(products) * scale;
    if (MASK != 0u) {
        const uvec4 at = mask_at + row * stride;
        score = vec4(masked(score.x, mask, at.x), masked(score.y, mask, at.y), masked(score.z, mask, at.z),
                     masked(score.w, mask, at.w));
    }
    return score;
}

// Returns whether the weight of the counter's k-th key is dropped.
bool dropped_key(Dropout d, uint counter, uint k)
{
    const rp_words w = draw(d, counter);
    return rp_dropped(k == 0u ? w.x : k == 1u ? w.y : k == 2u ? w.z : w.w, d.threshold);
}
