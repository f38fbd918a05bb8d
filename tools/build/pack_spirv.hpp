// Writes SPIR-V as src/device/packed_spirv.hpp describes it.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace reprise::device {

struct PackedText {
    std::vector<std::uint8_t> bytes; // deflated
    std::uint32_t inflated = 0;      // bytes before that
};

// `base`: words of another module; empty: none.  Throws std::runtime_error for a module that is broken.
PackedText pack(std::span<const std::uint32_t> words, std::span<const std::uint32_t> base);

// For each module, the index of the one that it is best packed with, itself where that is none; those that
// are taken have none.
std::vector<std::size_t> choose_bases(const std::vector<std::vector<std::uint32_t>>& modules);

} // namespace reprise::device
