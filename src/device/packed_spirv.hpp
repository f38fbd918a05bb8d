// A kernel's SPIR-V as the library stores it: 12 times smaller than the module.
//
// Most of a shader's variants are the same code with other ids, which general compressors don't detect.  So a module is
// encoded relative to a base, another module of the same shader.  It consists of runs of the base's instructions, whose
// words are renamed as earlier words of this module were, with corrections where the renaming predicts a wrong word,
// and of its own instructions.  Deflate (zlib) compresses the result.  Unpacking restores the words exactly.
//
// The text before deflate consists of LEB128 numbers (7 bits per byte, lowest first, a set high bit if more follow):
//     words of the module, words 1 to 4 of its header; then to the end, alternating:
//     own instructions:     count, each with its length and its words: (length << 16 | opcode, ...)
//     run of the base:      count, first instruction (signed, relative to the last run's end), count of corrections,
//                           each: number of correct words before it, actual - expected word (signed, modulo 2^32)
// The run is left out at the end of the module.  Signed numbers are zigzag-encoded (0, -1, 1, -2 as 0 to 3).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/packed_kernel.hpp"
#include "device/spirv.hpp"

namespace reprise::device {

// Returns the module; empty if the bytes are not output of tools/build/pack_spirv.cpp.
std::vector<std::uint32_t> unpack(const PackedSpirv&);

// Predicts how a word of the base was renamed in this module, from the words seen so far.  Ids that are close together
// are mostly moved by the same amount, so an id that was not seen yet moves like the nearest smaller id that was.
// Small words that are not ids are treated the same way: a wrong guess costs a correction.
class SpirvRenaming {
public:
    explicit SpirvRenaming(std::uint32_t bound) : moved_(bound), learned_((bound + 63) / 64) {}
    std::uint32_t expected(std::uint32_t word) const;
    void learn(std::uint32_t word, std::uint32_t actual);

private:
    std::vector<std::uint32_t> moved_;   // by id: actual - id, modulo 2^32
    std::vector<std::uint64_t> learned_; // one bit per id: moved_ is set
};

} // namespace reprise::device
