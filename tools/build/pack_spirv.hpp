// Packs SPIR-V in the format that src/device/packed_spirv.hpp describes.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace reprise::device {

struct PackedText {
    std::vector<std::uint8_t> bytes; // deflated
    std::uint32_t inflated = 0;      // bytes before deflate
};

// `base`: words of another module; empty: none.  Throws std::runtime_error if a module is broken.
PackedText pack(std::span<const std::uint32_t> words, std::span<const std::uint32_t> base);

// Returns for each module the index of its best base, or its own index if a base does not help.  A base has no base.
std::vector<std::size_t> choose_bases(const std::vector<std::vector<std::uint32_t>>& modules);

} // namespace reprise::device
