// Cooperation of the threads of a block: barriers, shared memory (RP_SHARED), and shuffles between the 32 lanes of a
// warp.  All threads of a block must reach each barrier, and all lanes of a warp each shuffle.
#pragma once
#include "common/kernel.cuh"

namespace rp {

constexpr uint warp_lanes = 32;

RP_DEVICE uint lane_of_warp() { return threadIdx.x % warp_lanes; }
RP_DEVICE uint warp_of_block() { return threadIdx.x / warp_lanes; }
// Returns the value of another lane; T has 4 or 8 bytes.
template <class T> RP_DEVICE T shuffle(T v, uint lane) { return rp_host::shuffle(v, lane); }
template <class T> RP_DEVICE T shuffle_xor(T v, uint lanes) { return rp_host::shuffle_xor(v, lanes); }

} // namespace rp
