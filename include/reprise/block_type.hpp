// Formats of quantised weights: rows of elements that are stored in blocks.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <optional>

namespace reprise {

// A block-quantised format of GGML: a row is a sequence of blocks, each with its scales and the low-precision
// values of a fixed number of elements.  The values of the enum are those of GGUF files.  q8_1 and q8_k, which
// GGML uses for activations in memory only, are not among them.
enum class BlockType : std::uint8_t {
    q4_0 = 2,
    q4_1 = 3,
    q5_0 = 6,
    q5_1 = 7,
    q8_0 = 8,
    q2_k = 10,
    q3_k = 11,
    q4_k = 12,
    q5_k = 13,
    q6_k = 14,
    iq2_xxs = 16,
    iq2_xs = 17,
    iq3_xxs = 18,
    iq1_s = 19,
    iq4_nl = 20,
    iq3_s = 21,
    iq2_s = 22,
    iq4_xs = 23,
    iq1_m = 29,
    tq1_0 = 34,
    tq2_0 = 35,
    mxfp4 = 39,
    nvfp4 = 40,
    q1_0 = 41,
};

const char* name_of(BlockType) noexcept;             // the name: "q4_k"
std::int64_t elements_per_block(BlockType) noexcept; // how many neighbours of a row a block has: 32, 256
std::int64_t bytes_per_block(BlockType) noexcept;    // the size of a block: 144 for q4_k
std::optional<BlockType> block_type_of(
    std::uint32_t gguf) noexcept;                   // by its number in GGUF files, if it is one
std::ostream& operator<<(std::ostream&, BlockType); // prints name_of()

} // namespace reprise
