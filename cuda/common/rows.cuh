// Rows of elements along one dimension of strided tensors, with the record of shaders/common/rows.glsl.  One warp
// computes a row; a quarter of a warp if rows are short, a block if they are long.  The choice depends on n, the length
// of the launch's rows.
//
// Numeric class of a row's sum, a pure function of n: four q, elements 4q to 4q + 3, belongs to lane q % 32, or q % 256
// if a block computes the row.  A lane adds its fours in order; the four components are added as (0 + 1) + (2 + 3), the
// sums of a warp's lanes as a butterfly with distances 16, 8, 4, 2, 1, the sums of a block's warps in order.  (The
// lanes that a quarter lacks would have zeros.)
#pragma once
#include "common/block.cuh"
#include "common/shaders.cuh"

namespace rp {

constexpr uint row_threads = 256, row_blocks = 16; // per block; per group of 64 rows
constexpr uint longest_of_warp = 1024;             // elements; longer rows need a block

// A warp, or one of its equal parts.
template <uint count> struct LanesOfWarp {
    static constexpr uint lanes = count;
    static RP_DEVICE uint lane() { return threadIdx.x % count; }
    template <class F> static RP_DEVICE float over(float v, F f) { return over_lanes<count>(v, f); }
};
using Warp = LanesOfWarp<warp_lanes>;
using Quarter = LanesOfWarp<warp_lanes / 4>;
struct Block {
    static constexpr uint lanes = row_threads;
    static RP_DEVICE uint lane() { return threadIdx.x; }
    template <class F> static RP_DEVICE float over(float v, F f)
    {
        RP_SHARED(float, room, row_threads / warp_lanes);
        return over_block<row_threads / warp_lanes>(v, room, f);
    }
};

struct Sum {
    RP_DEVICE float operator()(float a, float b) const { return a + b; }
};
struct Largest {
    RP_DEVICE float operator()(float a, float b) const { return rp_max(a, b); }
};
RP_DEVICE vec4 larger(vec4 a, vec4 b) { return each(Largest(), a, b); }
RP_DEVICE vec4 exponential(vec4 v) { return {rp_exp(v.x), rp_exp(v.y), rp_exp(v.z), rp_exp(v.w)}; }
// Replaces the elements from `count` on by `other`.
RP_DEVICE vec4 first(vec4 v, uint e, uint count, float other)
{
    return {e < count ? v.x : other, e + 1 < count ? v.y : other, e + 2 < count ? v.z : other,
            e + 3 < count ? v.w : other};
}

struct Row {
    float* v;
    uint stride; // elements
    bool fours;  // contiguous and 16-byte aligned

    RP_DEVICE float& operator[](uint e) const { return v[e * stride]; }
    template <bool whole> RP_DEVICE vec4 load(uint e, uint n) const
    {
        if (whole || (fours && e + 3 < n)) return *reinterpret_cast<const vec4*>(v + e);
        vec4 four(0.0f);
        if (e < n) four.x = (*this)[e];
        if (e + 1 < n) four.y = (*this)[e + 1];
        if (e + 2 < n) four.z = (*this)[e + 2];
        if (e + 3 < n) four.w = (*this)[e + 3];
        return four;
    }
    template <bool whole> RP_DEVICE void store(uint e, uint n, vec4 four) const
    {
        if (whole || (fours && e + 3 < n)) {
            *reinterpret_cast<vec4*>(v + e) = four;
            return;
        }
        if (e < n) (*this)[e] = four.x;
        if (e + 1 < n) (*this)[e + 1] = four.y;
        if (e + 2 < n) (*this)[e + 2] = four.z;
        if (e + 3 < n) (*this)[e + 3] = four.w;
    }
};

// The record of a kernel; its first `count` operands are rows.
template <uint operands, uint floats, uint count> struct RowsRecord {
    const Operand* operand;
    const float* f;
    const int* n;
    uint kept; // dimensions other than the row's

    RP_DEVICE RowsRecord(const void* record, const Constants& constants)
        : operand(static_cast<const Operand*>(record)), f(reinterpret_cast<const float*>(operand + operands)),
          n(reinterpret_cast<const int*>(f + floats)), kept(constants.v[0])
    {}
    RP_DEVICE uint length() const { return uint(n[0]); }
    RP_DEVICE uint rows() const { return uint(n[1]); }
    RP_DEVICE const int* behind() const { return n + 3 + operands + kept * (operands + 1); }
    struct Found {
        Row v[count];
        RP_DEVICE bool fours() const
        {
            bool all = true;
#pragma unroll
            for (uint k = 0; k < count; ++k) all = all && v[k].fours;
            return all;
        }
    };
    RP_DEVICE Found find(uint number) const
    {
        Found row;
        const int *size = n + 3 + operands, *strides = size + kept;
        uint at[count] = {};
#pragma unroll 1
        for (uint d = kept; d-- > 0;) {
            const uint outer = d > 0 ? number / uint(size[d]) : 0, c = number - outer * uint(size[d]);
#pragma unroll
            for (uint k = 0; k < count; ++k) at[k] += c * uint(strides[k * kept + d]);
            number = outer;
        }
#pragma unroll
        for (uint k = 0; k < count; ++k) {
            const uint stride = uint(n[3 + k]);
            float* v = Floats(operand[k].address).v + at[k];
            row.v[k] = {v, stride, stride == 1 && address_of(v).x % sizeof(vec4) == 0};
        }
        return row;
    }
};

// The way in which a row of n elements is computed: the team of threads; the number of fours per lane that stay in
// registers between passes (0: each pass loads them); whether n is a multiple of 4 and all rows can be accessed in
// fours.
template <class Team, uint fours, bool whole> struct Way {
    static constexpr uint kept = fours;

    static RP_DEVICE uint lane() { return Team::lane(); }
    static RP_DEVICE vec4 load(const Row& row, uint e, uint n) { return row.load<whole>(e, n); }
    static RP_DEVICE void store(const Row& row, uint e, uint n, vec4 v) { row.store<whole>(e, n, v); }
    // Replaces the elements from n on by `other`.
    static RP_DEVICE vec4 inside(vec4 v, uint e, uint n, float other = 0.0f)
    {
        return whole ? v : first(v, e, n, other);
    }
    // Calls f(i, e) for a lane's fours in order: the i-th begins at element e.
    template <class F> static RP_DEVICE void each(uint n, F f)
    {
        if constexpr (fours > 0) {
#pragma unroll
            for (uint i = 0; i < fours; ++i) {
                const uint e = 4 * (i * Team::lanes + lane());
                if (e < n) f(i, e);
            }
        } else {
#pragma unroll 4
            for (uint e = 4 * lane(); e < n; e += 4 * Team::lanes) f(0u, e);
        }
    }
    static RP_DEVICE float sum(vec4 v) { return Team::over((v.x + v.y) + (v.z + v.w), Sum()); }
    static RP_DEVICE float largest(vec4 v)
    {
        const float all = Team::over(rp_max(rp_max(v.x, v.y), rp_max(v.z, v.w)), Largest());
        return rp_is_zero(all) ? 0.0f : all; // the sign of zero depends on the order
    }
    // For the second row of a kernel that reads two rows: retaining more fours of it would lower the occupancy.
    using Second = Way<Team, (fours > 4 ? 0 : fours), whole>;
};

// A lane's fours of a row.
template <class Way, uint fours = Way::kept> struct Part {
    static constexpr bool kept = true;
    vec4 v[fours];
    RP_DEVICE Part(const Row& row, uint n)
    {
        Way::each(n, [&](uint i, uint e) { v[i] = Way::load(row, e, n); });
    }
    RP_DEVICE vec4 get(uint i, uint) const { return v[i]; }
    RP_DEVICE void keep(uint i, vec4 four) { v[i] = four; }
};
template <class Way> struct Part<Way, 0> {
    static constexpr bool kept = false;
    Row row;
    uint n;
    RP_DEVICE Part(const Row& r, uint length) : row(r), n(length) {}
    RP_DEVICE vec4 get(uint, uint e) const { return Way::load(row, e, n); }
    RP_DEVICE void keep(uint, vec4) {}
};

// Calls kernel.make<Way>(row, number, n) for all rows; a number beyond them has n = 0, and the last row.
template <class Kernel> RP_DEVICE void make_rows(const Kernel& kernel)
{
    constexpr uint of_quarter = 4 * Quarter::lanes, of_warp = 4 * Warp::lanes, of_block = 4 * Block::lanes; // elements
    const uint n = kernel.record.length(), rows = kernel.record.rows();
    if (n <= of_quarter) {
        constexpr uint of_threads = row_threads / Quarter::lanes;
        if (blockIdx.x > rows / of_threads) return; // the product below might wrap
        const uint number = blockIdx.x * of_threads + threadIdx.x / Quarter::lanes;
        if (number - lane_of_warp() / Quarter::lanes >= rows) return; // the whole warp exits
        const auto row = kernel.record.find(min(number, rows - 1));
        const uint length = number < rows ? n : 0;
        const bool whole = ballot(n % 4 == 0 && row.fours()) == ~0u;
        if (whole) kernel.template make<Way<Quarter, 1, true>>(row.v, number, length);
        else kernel.template make<Way<Quarter, 1, false>>(row.v, number, length);
        return;
    }
    if (n <= longest_of_warp) {
        const uint number = blockIdx.x * (row_threads / warp_lanes) + warp_of_block();
        if (number >= rows) return;
        const auto row = kernel.record.find(number);
        const bool whole = n % 4 == 0 && row.fours();
        if (whole && n <= of_warp) kernel.template make<Way<Warp, 1, true>>(row.v, number, n);
        else if (whole && n <= 2 * of_warp) kernel.template make<Way<Warp, 2, true>>(row.v, number, n);
        else if (whole && n <= 4 * of_warp) kernel.template make<Way<Warp, 4, true>>(row.v, number, n);
        else if (whole) kernel.template make<Way<Warp, 8, true>>(row.v, number, n);
        else if (n <= of_warp) kernel.template make<Way<Warp, 1, false>>(row.v, number, n);
        else kernel.template make<Way<Warp, 0, false>>(row.v, number, n);
        return;
    }
#pragma unroll 1
    for (uint number = blockIdx.x; number < rows; number += gridDim.x) {
        const auto row = kernel.record.find(number);
        const bool whole = n % 4 == 0 && row.fours();
        if (whole && n <= 4 * of_block) kernel.template make<Way<Block, 4, true>>(row.v, number, n);
        else kernel.template make<Way<Block, 0, false>>(row.v, number, n);
    }
}

} // namespace rp
