#include "device/spirv.hpp"

namespace reprise::device {

std::vector<std::uint32_t> spirv_instructions(SpirvWords words)
{
    std::vector<std::uint32_t> begins;
    for (std::size_t at = spirv_header_words; at < words.size(); at += words[at] >> 16) {
        const std::uint32_t length = words[at] >> 16;
        if (length == 0 || length > words.size() - at) return {};
        begins.push_back(static_cast<std::uint32_t>(at));
    }
    begins.push_back(static_cast<std::uint32_t>(words.size()));
    return begins;
}

std::string spirv_text(SpirvWords instruction, std::size_t from)
{
    std::string text;
    for (std::size_t i = from; i < instruction.size(); ++i)
        for (int byte = 0; byte < 4; ++byte) {
            const char c = static_cast<char>(instruction[i] >> (8 * byte) & 255);
            if (c == 0) return text;
            text += c;
        }
    return text;
}

bool imports_glsl(SpirvWords w)
{
    return opcode_of(w) == OpExtInstImport && w.size() >= 3 && spirv_text(w, 2) == "GLSL.std.450";
}

} // namespace reprise::device
