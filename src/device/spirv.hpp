// The parts of SPIR-V that the library reads: a module's instructions, and some opcodes and numbers of its
// specification and of that of GLSL.std.450.  Also compiled into the build tool.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace reprise::device {

constexpr std::uint32_t spirv_magic = 0x07230203; // first word of every module
constexpr std::size_t spirv_header_words = 5;

enum SpirvOpcode : std::uint32_t {
    OpName = 5,
    OpExtInstImport = 11,
    OpExtInst = 12,
    OpEntryPoint = 15,
    OpExecutionMode = 16,
    OpCapability = 17,
    OpTypeFloat = 22,
    OpFunction = 54,
    OpDecorate = 71,
    OpMemberDecorate = 72
};
constexpr std::uint32_t cooperative_matrix_capability = 6022;
constexpr std::uint32_t binding_decoration = 33, no_contraction_decoration = 42;
constexpr std::uint32_t preserve_mode = 4461, preserve_capability = 4466; // SignedZeroInfNanPreserve
constexpr std::uint32_t glsl_fma = 50;

// The number of the specialization constant REFINES_DIVISION (shaders/common/vocabulary.glsl).  Users' kernels have
// lower ones.
constexpr std::uint32_t refines_division_constant = 2000;

// The words of a module, or of one instruction of it.
using SpirvWords = std::span<const std::uint32_t>;

// True if the words can be a module: they have a header with the magic number.
inline bool is_spirv(SpirvWords words) noexcept
{
    return words.size() >= spirv_header_words && words[0] == spirv_magic;
}

// The index of each instruction's first word, then the size of the module.  Empty if an instruction has length 0 or
// exceeds the module.
std::vector<std::uint32_t> spirv_instructions(SpirvWords);

inline std::uint32_t opcode_of(SpirvWords instruction) { return instruction[0] & 0xFFFFu; }

// Returns the text that begins at a word of an instruction.
std::string spirv_text(SpirvWords instruction, std::size_t from);

// Whether the instruction imports the functions of GLSL.std.450; its second word is their id.
bool imports_glsl(SpirvWords instruction);

// Calls f with the words of each instruction; for a broken module never.
template <class F> void for_each_instruction(SpirvWords module, const F& f)
{
    const std::vector<std::uint32_t> begins = spirv_instructions(module);
    for (std::size_t i = 0; i + 1 < begins.size(); ++i)
        f(module.subspan(begins[i], begins[i + 1] - begins[i]));
}

} // namespace reprise::device
