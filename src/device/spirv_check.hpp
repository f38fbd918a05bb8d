// What a driver might contract or round in its own way must not be in a kernel: every float operation carries
// NoContraction (its text is `precise`), and nothing of GLSL.std.450 hides products and sums.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace reprise::device {

// What all modules begin with.
inline constexpr std::uint32_t spirv_magic = 0x07230203;
// Whether the words can be a module: its header is there.
inline bool is_spirv(std::span<const std::uint32_t> words) noexcept
{
    return words.size() >= 5 && words[0] == spirv_magic;
}

// Sentences, one for each operation that a driver may change; of a module that is broken, one that says so.
std::vector<std::string> spirv_faults(const std::string& kernel, std::span<const std::uint32_t> words);

} // namespace reprise::device
