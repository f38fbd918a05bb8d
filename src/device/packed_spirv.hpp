// A kernel's SPIR-V as the library holds it: 12 times smaller than the module.
//
// Most of a shader's variants is the same code under other ids, which no general compressor sees.  So a
// module is written down by its base, another module of the same shader: as runs of the base's instructions,
// whose words are renamed as this module renamed them before, with corrections where that is not what stands
// there, and instructions of its own.  Deflate goes over the result.  Words come back as they were.
//
// The text before deflate, of numbers of 7 bits a byte (the highest bit: one more follows), the lowest first:
//     words of the module, its header's words 1 to 4; then to the end, in turns:
//     own instructions:     count, each with its length and its words: (length << 16 | opcode, ...)
//     the base's, if more:  count, first one (signed, from the one behind the last run), count of corrections,
//                           each: words right until then, actual - expected word (signed, modulo 2^32)
// Signed numbers are 0, -1, 1, -2, ... as 0, 1, 2, 3.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace reprise::device {

struct PackedSpirv {
    const std::uint8_t* bytes; // deflated by zlib
    std::uint32_t size;        // of bytes
    std::uint32_t inflated;    // bytes of the text
    const PackedSpirv* base;   // null: all instructions are its own; a base has none itself
};

// The module; empty where the bytes are not what tools/build/pack_spirv.cpp wrote.
std::vector<std::uint32_t> unpack(const PackedSpirv&);

constexpr std::size_t spirv_header_words = 5;

// Where a module's instructions begin, and behind the last its size; empty where one has no length or passes
// the end.
std::vector<std::uint32_t> spirv_instructions(std::span<const std::uint32_t> words);

// What a word of the base has become in this module, as far as it is known.  Ids that lie together are
// mostly moved together, so an id that did not come yet moves with the nearest known one below it.  Words
// that are no ids, but small, are treated alike: a wrong guess costs a correction.
class SpirvRenaming {
public:
    explicit SpirvRenaming(std::uint32_t bound) : moved_(bound), known_((bound + 63) / 64) {}
    std::uint32_t expected(std::uint32_t word) const;
    void learn(std::uint32_t word, std::uint32_t actual);

private:
    std::vector<std::uint32_t> moved_; // by id: actual - id, modulo 2^32
    std::vector<std::uint64_t> known_; // a bit for each id
};

} // namespace reprise::device
