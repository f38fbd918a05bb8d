// Attention on GPUs: a group of 256 lanes computes 64 rows of one side (queries, or keys) and iterates over the rows of
// the other side, 64 at a time, in tiles of shared memory.  A lane holds the scores of 4 rows and 4 of the other side,
// and the results of 4 rows, 4 columns of every 64.  The including file defines BLOCKS, which is features / 64, rounded
// up; with at most 32 features also SPLIT: then half of the lanes hold the columns, and the others the same ones for
// other rows.
//
// Numeric class: a score is a chain of fma over ascending features, from 0; a result is a chain of fma over the rows of
// the other side in order.  With SPLIT it is the sum of two chains: of the first 32 rows of each tile, and of the last
// 32.
//
// HALF: q, k, v, y and their gradients are f16 or bf16; they are widened when they come from memory, and results
// are rounded once.
//
// Operands have rows of whole texels (four elements), padded with zeros.  A weight of 0 is multiplied with a row of the
// other side like any other, so NaN and infinities of rows that a mask hides reach the results of their tile.
#define PARTS_OF_A 4u
#define UNROLLED_STEPS 8u
const uint ROWS = 64u, COLUMNS = 64u, PER_LANE = 4u, STEPS = 16u;
layout(local_size_x = 256) in;
#include "common/attention.glsl"
#include "common/product_tile.glsl"
#ifdef HALF
#define WIDENING_CONSTANT 4
#include "common/halves.glsl"
#include "common/widening.glsl"
#define LOADED4 uvec2
LOADED4 load_texel(uvec2 address, uint at) { return ReadHalves4(address).v[at]; }
vec4 wide(LOADED4 v) { return widened(v); }
uint narrowed(float v) { return WIDENING == BF16_BY_SHIFT ? rp_to_bf16(v) : rp_to_f16(v); }
#else
#define LOADED4 vec4
LOADED4 load_texel(uvec2 address, uint at) { return ReadVec4s(address).v[at]; }
vec4 wide(LOADED4 v) { return v; }
#endif

layout(constant_id = 3) const uint STORE_VECTORS = 0; // whether rows of results are whole texels

// The rows of an operand in one head.
struct Rows {
    uvec2 address;
    uint at, stride; // in texels
    uint count, fours;
};
Rows rows_of(Operand from, uint at, uint stride, uint count, uint features)
{
    return Rows(from.address, at, stride, count, (features + 3u) / 4u);
}

// The rows that a group computes, in head `head_of_all` of all batches.
struct Place {
    uint head_of_all, first;
};
Place place_of_group(uint rows)
{
    const uint tiles = (rows + ROWS - 1u) / ROWS, head_of_all = quotient(flat_group(), max(tiles, 1u));
    return Place(head_of_all, (flat_group() - head_of_all * tiles) * ROWS);
}
// The first of a lane's four rows of either side, in the tile.
uint own_row() { return 4u * lane_row(); }
uint other_row() { return 4u * lane_column(); }

// Returns texel `four` of a row; after its end the last one.
LOADED4 load_features(Rows rows, uint row_at, uint four)
{
    return load_texel(rows.address, row_at + min(four, rows.fours - 1u));
}
#define STORE_FEATURES(tile, half_index, line, step, v) \
    [[unroll]] for (uint i = 0u; i < 4u; ++i)           \
        tile[((half_index) * STEPS + (step) + i) * PITCH_A + (line) / 4u][(line) % 4u] = v[i];

// Sets `sum` to the products of the rows of a from `first_a` on with those of b.  Begins and ends with all lanes done
// with the tiles.
void multiply(Rows a, uint first_a, Rows b, uint first_b)
{
    const uint lane = gl_LocalInvocationIndex, line = lane / 4u, four = lane % 4u;
    const uint a_at = a.at + min(first_a + line, a.count - 1u) * a.stride;
    const uint b_at = b.at + min(first_b + line, b.count - 1u) * b.stride;
    clear_sums();
    LOADED4 next_a = load_features(a, a_at, four), next_b = load_features(b, b_at, four);
    vec4 now_a = mix(wide(next_a), vec4(0.0), bvec4(four >= a.fours));
    vec4 now_b = mix(wide(next_b), vec4(0.0), bvec4(four >= a.fours));
    STORE_FEATURES(tile_a, 0u, line, 4u * four, now_a)
    STORE_FEATURES(tile_b, 0u, line, 4u * four, now_b)
    barrier();
    uint half_index = 0u;
    for (uint begin = 0u; begin < a.fours; begin += 4u) {
        const uint next = begin + 4u;
        if (next < a.fours) {
            next_a = load_features(a, a_at, next + four);
            next_b = load_features(b, b_at, next + four);
        }
        add_products(half_index);
        half_index = 1u - half_index;
        if (next < a.fours) {
            now_a = mix(wide(next_a), vec4(0.0), bvec4(next + four >= a.fours));
            now_b = mix(wide(next_b), vec4(0.0), bvec4(next + four >= a.fours));
            STORE_FEATURES(tile_a, half_index, line, 4u * four, now_a)
            STORE_FEATURES(tile_b, half_index, line, 4u * four, now_b)
        }
        barrier();
    }
}

// Stores a lane's weights w[row][other row] to tile_a, [64 other rows][64 rows].  A barrier must follow.
#define STORE_WEIGHTS(m)                                                                                    \
    STORE_COLUMN(m, 0u, x) STORE_COLUMN(m, 1u, y) STORE_COLUMN(m, 2u, z) STORE_COLUMN(m, 3u, w)
#define STORE_COLUMN(m, e, c) \
    tile_a[(other_row() + e) * PITCH_A + lane_row()] = vec4(m[0][0].c, m[1][0].c, m[2][0].c, m[3][0].c);

// Adds to results[BLOCKS][4][1] the rows of b from `first_b` on, up to 64 of them, times the weights of tile_a.  Begins
// after the weights were stored, and ends with all lanes done with the tiles.  A part is 16 rows; with SPLIT twice 16.
#ifdef SPLIT
const uint PARTS = 2u, COLUMNS4 = 8u;
uint second_half(uint column4) { return column4 / COLUMNS4; }
#else
const uint PARTS = 4u, COLUMNS4 = 16u;
uint second_half(uint column4) { return 0u; }
#endif
LOADED4 load_row(Rows b, uint first, uint part, uint block)
{
    const uint row = gl_LocalInvocationIndex / 16u, column4 = gl_LocalInvocationIndex % 16u;
    const uint from = first + (part + PARTS * second_half(column4)) * STEPS + row;
    return load_texel(b.address, b.at + min(from, b.count - 1u) * b.stride +
                                     min(block * 16u + column4 % COLUMNS4, b.fours - 1u));
}
void store_row(uint half_index, LOADED4 v)
{
    const uint lane = gl_LocalInvocationIndex;
    tile_b[(half_index * STEPS + lane / 16u) * PITCH_B + lane % 16u] = wide(v);
}
#define ADD_WEIGHTED_ROWS(results, b, first_b)                                                                  \
    {                                                                                                           \
        const Rows rows = b;                                                                                    \
        const uint begin = first_b, parts = min((rows.count - begin + STEPS - 1u) / STEPS, PARTS);              \
        uint half_index = 0u;                                                                                   \
        LOADED4 next_row = load_row(rows, begin, 0u, 0u);                                                          \
        store_row(0u, next_row);                                                                                \
        barrier();                                                                                              \
        EACH_BLOCK(ADD_BLOCK, results)                                                                          \
    }
#define ADD_BLOCK(block, results)                                                                               \
    for (uint part = 0u; part < parts; ++part) {                                                                \
        const bool last = part + 1u == parts, more = !last || block + 1u < uint(BLOCKS);                        \
        if (more) next_row = load_row(rows, begin, last ? 0u : part + 1u, last ? block + 1u : block);           \
        ADD_PRODUCTS(results[block], part + PARTS * second_half(lane_column()), half_index)                     \
        half_index = 1u - half_index;                                                                           \
        if (more) store_row(half_index, next_row);                                                              \
        barrier();                                                                                              \
    }

// A lane's four rows, and the blocks of its results.
#define EACH_ROW(F) F(0u) F(1u) F(2u) F(3u)
#if BLOCKS == 1
#define EACH_BLOCK(F, i) F(0u, i)
#elif BLOCKS == 2
#define EACH_BLOCK(F, i) F(0u, i) F(1u, i)
#else
#define EACH_BLOCK(F, i) F(0u, i) F(1u, i) F(2u, i) F(3u, i)
#endif

#define CLEAR_RESULTS(results) EACH_BLOCK(CLEAR_BLOCK, results)
#define CLEAR_BLOCK(block, results) \
    [[unroll]] for (uint i = 0u; i < 4u; ++i) results[block][i][0] = vec4(0.0);

// Adds the two halves of the results.
#ifdef SPLIT
#define JOIN_HALVES(results)                                                                                    \
    {                                                                                                           \
        const uint at = 4u * (lane_row() * COLUMNS4 + lane_column() % COLUMNS4);                                \
        if (lane_column() >= COLUMNS4)                                                                          \
            [[unroll]] for (uint i = 0u; i < 4u; ++i) tile_a[at + i] = results[0][i][0];                        \
        barrier();                                                                                              \
        precise vec4 a = results[0][0][0] + tile_a[at], b = results[0][1][0] + tile_a[at + 1u];                 \
        precise vec4 c = results[0][2][0] + tile_a[at + 2u], d = results[0][3][0] + tile_a[at + 3u];            \
        results[0][0][0] = a;                                                                                   \
        results[0][1][0] = b;                                                                                   \
        results[0][2][0] = c;                                                                                   \
        results[0][3][0] = d;                                                                                   \
        barrier();                                                                                              \
    }
#else
#define JOIN_HALVES(results)
#endif

// Stores elements `column` to column + 3 of a row of n, which begins at `at`.
void store_result(uvec2 to, uint at, uint column, uint n, vec4 v)
{
#ifdef HALF
    const uvec4 bits = uvec4(narrowed(v.x), narrowed(v.y), narrowed(v.z), narrowed(v.w));
    if (STORE_VECTORS != 0u) {
        if (column < n) Halves4(to).v[(at + column) / 4u] = uvec2(bits.x | bits.y << 16, bits.z | bits.w << 16);
        return;
    }
    [[unroll]] for (uint e = 0u; e < 4u; ++e)
        if (column + e < n) Halves(to).v[at + column + e] = uint16_t(bits[e]);
#else
    if (STORE_VECTORS != 0u) {
        if (column < n) Vec4s(to).v[(at + column) / 4u] = v;
        return;
    }
    [[unroll]] for (uint e = 0u; e < 4u; ++e)
        if (column + e < n) Floats(to).v[at + column + e] = v[e];
#endif
}

// Returns elements first to first + 3 of `count`; after the end the last one.
vec4 load4(Floats from, uint at, uint first, uint count)
{
    const uvec4 i = at + min(first + uvec4(0u, 1u, 2u, 3u), uvec4(count - 1u));
    return vec4(from.v[i.x], from.v[i.y], from.v[i.z], from.v[i.w]);
}

// For a value of each of a lane's four rows that the 16 lanes of these rows share, in the half 1 of tile_b.
void share_with_row(vec4 of_rows) { tile_b[(STEPS + lane_column()) * PITCH_B + lane_row()] = of_rows; }
vec4 shared_by(uint column) { return tile_b[(STEPS + column) * PITCH_B + lane_row()]; }

// Applies the mask to four scores: of one query and the keys from `at` on, of `count`, or of one key and four queries.
vec4 masked_by(uvec2 mask, uint first_at, uint at, uint count, uint stride, vec4 score)
{
    const uvec4 index = first_at + min(at + uvec4(0u, 1u, 2u, 3u), uvec4(count - 1u)) * stride;
    return vec4(masked(score.x, mask, index.x), masked(score.y, mask, index.y), masked(score.z, mask, index.z),
                masked(score.w, mask, index.w));
}
