// Computes the same indices as shaders/argmax.comp. A warp computes an output, or a run of one, if its elements are
// contiguous and at least as many as the lanes; else a thread does.
#include "common/block.cuh"
#include "common/shaders.cuh"

namespace rp {

constexpr uint argmax_threads = 256, argmax_blocks = 8; // threads per block; blocks per group of 64 outputs or runs

template <class Real> struct Best {
    Real v;
    uint index;
    RP_DEVICE explicit Best(uint first) : v(-rp_inf()), index(first) {}
    static RP_DEVICE bool larger(Real a, Real b) { return a > b || (rp_is_nan(a) && !rp_is_nan(b)); }
    // Updates the result by a later element.
    RP_DEVICE void take(Real other, uint at)
    {
        if (larger(other, v)) *this = {other, at};
    }
    // Reduces over the lanes of a warp; of equal elements the one with the lowest index wins.
    RP_DEVICE void over_lanes()
    {
#pragma unroll
        for (uint lanes = warp_lanes / 2; lanes > 0; lanes /= 2) {
            const Best other(shuffle_xor(v, lanes), shuffle_xor(index, lanes));
            if (larger(other.v, v) || (!larger(v, other.v) && other.index < index)) *this = other;
        }
    }

private:
    RP_DEVICE Best(Real value, uint at) : v(value), index(at) {}
};

// Returns the index, below `count`, of the output or run for which the thread works; at least `count` for none.
RP_DEVICE uint place_of(bool by_warp, uint count)
{
    const uint each = by_warp ? warp_lanes : 1, of_block = argmax_threads / each;
    return blockIdx.x > count / of_block ? count : blockIdx.x * of_block + threadIdx.x / each;
}

// Reduces the elements of a run if `in_runs`, else all elements of an output.
template <class Real, bool in_runs> RP_DEVICE void argmax(const void* record, const Constants& constants)
{
    const auto* operand = static_cast<const Operand*>(record);
    const auto* ints = reinterpret_cast<const int*>(operand + (in_runs ? 3 : 2));
    const uint outputs = uint(ints[0]), n = uint(ints[1]), stride = uint(ints[2]), kept = constants.v[0];
    const uint runs = in_runs ? uint(ints[3]) : 1, length = in_runs ? uint(ints[4]) : n;
    const int *size = ints + (in_runs ? 5 : 3), *strides = size + kept;

    const bool by_warp = stride == 1 && length >= warp_lanes;
    const uint place = place_of(by_warp, outputs * runs);
    if (place >= outputs * runs) return;
    const uint run = place / outputs, first = run * length, end = min(first + length, n);
    uint at = 0, rest = place - run * outputs;
#pragma unroll 1
    for (uint d = kept; d-- > 0;) {
        const uint outer = d > 0 ? rest / uint(size[d]) : 0, c = rest - outer * uint(size[d]);
        at += c * uint(strides[d]);
        rest = outer;
    }
    const Real* from = Elements<const Real>(operand[0].address).v + at;

    Best<Real> best(first);
    const uint lane = by_warp ? lane_of_warp() : 0, step = by_warp ? warp_lanes : 1;
#pragma unroll 4
    for (uint e = first + lane; e < end; e += step) best.take(from[e * stride], e);
    if (by_warp) best.over_lanes();
    if (lane != 0) return;
    Ints(operand[in_runs ? 2 : 1].address).v[place] = int(best.index);
    if (in_runs) Elements<Real>(operand[1].address).v[place] = best.v;
}

// Reduces the results of the runs.
template <class Real> RP_DEVICE void argmax_partials(const void* record)
{
    const auto* operand = static_cast<const Operand*>(record);
    const auto* ints = reinterpret_cast<const int*>(operand + 3);
    const uint outputs = uint(ints[0]), runs = uint(ints[1]);
    const Real* values = Elements<const Real>(operand[0].address).v;

    const bool by_warp = outputs == 1; // then the results of its runs are contiguous
    const uint place = place_of(by_warp, outputs);
    if (place >= outputs) return;
    Best<Real> best(0);
    const uint lane = by_warp ? lane_of_warp() : 0, step = by_warp ? warp_lanes : 1;
#pragma unroll 4
    for (uint run = lane; run < runs; run += step) best.take(values[run * outputs + place], run);
    if (by_warp) best.over_lanes();
    if (lane == 0)
        Ints(operand[2].address).v[place] =
            runs > 0 ? Ints(operand[1].address).v[best.index * outputs + place] : 0;
}

} // namespace rp

#define RP_KERNEL_OF_ARGMAX(name, ...) \
    RP_KERNEL_OF_BLOCK(name, rp::argmax_threads, rp::argmax_blocks) { rp::__VA_ARGS__; }
RP_KERNEL_OF_ARGMAX(argmax, argmax<float, false>(rp_record, rp_constants))
RP_KERNEL_OF_ARGMAX(argmax_runs, argmax<float, true>(rp_record, rp_constants))
RP_KERNEL_OF_ARGMAX(argmax_partials, argmax_partials<float>(rp_record))
RP_KERNEL_OF_ARGMAX(argmax_f64, argmax<double, false>(rp_record, rp_constants))
RP_KERNEL_OF_ARGMAX(argmax_runs_f64, argmax<double, true>(rp_record, rp_constants))
RP_KERNEL_OF_ARGMAX(argmax_partials_f64, argmax_partials<double>(rp_record))
