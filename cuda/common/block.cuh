// Cooperation of the threads of a block: barriers, shared memory (RP_SHARED), and shuffles between the 32 lanes of a
// warp.  All threads of a block must reach each barrier, and all lanes of a warp each shuffle.
#pragma once
#include "common/kernel.cuh"

namespace rp {

constexpr uint warp_lanes = 32;

RP_DEVICE uint lane_of_warp() { return threadIdx.x % warp_lanes; }
RP_DEVICE uint warp_of_block() { return threadIdx.x / warp_lanes; }
RP_DEVICE void sync_block() { rp_host::sync_block(); }
// Returns the value of another lane; T has 4 or 8 bytes.
template <class T> RP_DEVICE T shuffle(T v, uint lane) { return rp_host::shuffle(v, lane); }
template <class T> RP_DEVICE T shuffle_xor(T v, uint lanes) { return rp_host::shuffle_xor(v, lanes); }
RP_DEVICE uint ballot(bool v) { return rp_host::ballot(v); } // one bit per lane

// Reduces the values of a warp's lanes, or of each `count` of them, with f as a tree.  f(a, b) has the same bits as
// f(b, a), so all lanes get the same result.
template <uint count, class T, class F> RP_DEVICE T over_lanes(T v, F f)
{
#pragma unroll
    for (uint apart = count / 2; apart > 0; apart /= 2) v = f(v, shuffle_xor(v, apart));
    return v;
}
// The same for a block of `warps` warps; `room` is shared memory for one value per warp.
template <uint warps, class T, class F> RP_DEVICE T over_block(T v, T* room, F f)
{
    v = over_lanes<warp_lanes>(v, f);
    if (lane_of_warp() == 0) room[warp_of_block()] = v;
    sync_block();
    T all = room[0];
#pragma unroll
    for (uint w = 1; w < warps; ++w) all = f(all, room[w]);
    sync_block(); // so that `room` can be overwritten
    return all;
}

} // namespace rp
