// The vocabulary (math library) compiled as C++, in float and in double.  Results have the same bits as on devices that
// preserve subnormals; for a device that flushes them the host must flush, too.  Compile users with -ffp-contract=off.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace reprise::ops::native {

using uint = std::uint32_t;
inline uint rp_bits(float x) { return std::bit_cast<uint>(x); }
inline float rp_value(uint u) { return std::bit_cast<float>(u); }
inline uint rp_umulhi(uint a, uint b) { return static_cast<uint>(std::uint64_t{a} * b >> 32); }
inline float rp_div(float a, float b) { return a / b; }
inline float rp_sqrt(float x) { return std::sqrt(x); }
#define RPF float
#define RP_FN inline
#include "ops/vocabulary.inc"
#undef RPF
#undef RP_FN

} // namespace reprise::ops::native

namespace reprise::ops::native_f64 {

using native::rp_inf, native::rp_nan, native::rp_umulhi, native::uint;
inline uint rp_high(double x) { return static_cast<uint>(std::bit_cast<std::uint64_t>(x) >> 32); }
inline uint rp_low(double x) { return static_cast<uint>(std::bit_cast<std::uint64_t>(x)); }
inline double rp_double(uint high, uint low)
{
    return std::bit_cast<double>(std::uint64_t{high} << 32 | low);
}
inline double rp_div(double a, double b) { return a / b; }
inline double rp_sqrt(double x) { return std::sqrt(x); }
#define RPD double
#define RP_FN inline
#include "ops/vocabulary_f64_host.inc" // the build makes it of vocabulary_f64.inc
#undef RPD
#undef RP_FN

} // namespace reprise::ops::native_f64
