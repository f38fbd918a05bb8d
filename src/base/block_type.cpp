#include <reprise/block_type.hpp>

#include <algorithm>
#include <array>
#include <ostream>

namespace reprise {

namespace {

struct Format {
    BlockType type;
    const char* name;
    std::int64_t elements, bytes;
};
// As in ggml-common.h of llama.cpp.
constexpr std::array<Format, 24> formats{
    {{BlockType::q4_0, "q4_0", 32, 18},        {BlockType::q4_1, "q4_1", 32, 20},
     {BlockType::q5_0, "q5_0", 32, 22},        {BlockType::q5_1, "q5_1", 32, 24},
     {BlockType::q8_0, "q8_0", 32, 34},        {BlockType::q2_k, "q2_k", 256, 84},
     {BlockType::q3_k, "q3_k", 256, 110},      {BlockType::q4_k, "q4_k", 256, 144},
     {BlockType::q5_k, "q5_k", 256, 176},      {BlockType::q6_k, "q6_k", 256, 210},
     {BlockType::iq2_xxs, "iq2_xxs", 256, 66}, {BlockType::iq2_xs, "iq2_xs", 256, 74},
     {BlockType::iq3_xxs, "iq3_xxs", 256, 98}, {BlockType::iq1_s, "iq1_s", 256, 50},
     {BlockType::iq4_nl, "iq4_nl", 32, 18},    {BlockType::iq3_s, "iq3_s", 256, 110},
     {BlockType::iq2_s, "iq2_s", 256, 82},     {BlockType::iq4_xs, "iq4_xs", 256, 136},
     {BlockType::iq1_m, "iq1_m", 256, 56},     {BlockType::tq1_0, "tq1_0", 256, 54},
     {BlockType::tq2_0, "tq2_0", 256, 66},     {BlockType::mxfp4, "mxfp4", 32, 17},
     {BlockType::nvfp4, "nvfp4", 64, 36},      {BlockType::q1_0, "q1_0", 128, 18}}};

constexpr Format unknown{{}, "?", 1, 0};

const Format& format_of(std::uint32_t number) noexcept
{
    const auto found = std::find_if(formats.begin(), formats.end(), [&](const Format& f) {
        return static_cast<std::uint32_t>(f.type) == number;
    });
    return found == formats.end() ? unknown : *found;
}
const Format& format_of(BlockType type) noexcept { return format_of(static_cast<std::uint32_t>(type)); }

} // namespace

const char* name_of(BlockType type) noexcept { return format_of(type).name; }
std::int64_t elements_per_block(BlockType type) noexcept { return format_of(type).elements; }
std::int64_t bytes_per_block(BlockType type) noexcept { return format_of(type).bytes; }

std::optional<BlockType> block_type_of(std::uint32_t gguf) noexcept
{
    const Format& format = format_of(gguf);
    return format.bytes == 0 ? std::nullopt : std::optional(format.type);
}

std::ostream& operator<<(std::ostream& out, BlockType type) { return out << name_of(type); }

} // namespace reprise
