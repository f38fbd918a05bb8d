// dynamic8.inc compiled as C++: moments in blocks of 8 bits with the bytes that the kernels write.
#pragma once
#include <cstdint>

#include "ops/vocabulary.hpp"

namespace reprise::ops {

namespace native {
#define RPF float
#define RP_FN inline
#include "ops/dynamic8.inc"
#undef RPF
#undef RP_FN
} // namespace native

constexpr std::int64_t block_elements = 256,
                       block_bytes = 4 + block_elements; // the scale, then a code for each

} // namespace reprise::ops
