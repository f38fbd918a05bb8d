// The C++ reader of the vocabulary: in float, with the bits that devices give (those that keep subnormals;
// where they are flushed, the host must flush too).  Compile users with -ffp-contract=off.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace reprise::ops::native {

using uint = std::uint32_t;
inline uint rp_bits(float x) { return std::bit_cast<uint>(x); }
inline float rp_value(uint u) { return std::bit_cast<float>(u); }
inline uint rp_umulhi(uint a, uint b) { return static_cast<uint>(std::uint64_t{a} * b >> 32); }
inline float rp_sqrt(float x) { return std::sqrt(x); }
#define RPF float
#define RP_FN inline
#include "ops/vocabulary.inc"
#undef RPF
#undef RP_FN

} // namespace reprise::ops::native
