#include "device/preserve_mode.hpp"
#include "device/packed_spirv.hpp"

#include <algorithm>
#include <functional>

namespace reprise::device {

namespace {

using Words = std::span<const std::uint32_t>;

// From the SPIR-V specification.
enum : std::uint32_t { OpEntryPoint = 15, OpExecutionMode = 16, OpCapability = 17, OpTypeFloat = 22 };
constexpr std::uint32_t capability = 4466, mode = 4461;

std::uint32_t opcode_of(Words instruction) { return instruction[0] & 0xFFFFu; }
bool is_mode(Words w) { return opcode_of(w) == OpExecutionMode && w.size() >= 4 && w[2] == mode; }
bool is_capability(Words w) { return opcode_of(w) == OpCapability && w.size() >= 2 && w[1] == capability; }

void for_each_instruction(Words spirv, const std::function<void(Words)>& f)
{
    const std::vector<std::uint32_t> begins = spirv_instructions(spirv);
    for (std::size_t i = 0; i + 1 < begins.size(); ++i)
        f(spirv.subspan(begins[i], begins[i + 1] - begins[i]));
}

bool contains(std::span<const std::uint32_t> list, std::uint32_t value)
{
    return std::find(list.begin(), list.end(), value) != list.end();
}

} // namespace

std::vector<std::uint32_t> with_preserve_mode(Words spirv)
{
    std::vector<std::uint32_t> missing, present;
    bool declared = false;
    for_each_instruction(spirv, [&](Words w) {
        if (is_mode(w)) present.push_back(w[3]);
        if (is_capability(w)) declared = true;
        if (opcode_of(w) == OpTypeFloat && w.size() >= 3 && w[2] >= 32 && !contains(present, w[2]))
            missing.push_back(w[2]);
    });
    std::vector<std::uint32_t> out(spirv.begin(), spirv.end());
    if (missing.empty()) return out;
    out.resize(spirv_header_words);
    for_each_instruction(spirv, [&](Words w) {
        if (opcode_of(w) == OpCapability && !declared) { // capabilities come first, in any order
            out.insert(out.end(), {2u << 16 | OpCapability, capability});
            declared = true;
        }
        out.insert(out.end(), w.begin(), w.end());
        if (opcode_of(w) != OpEntryPoint) return; // modes follow it
        for (const std::uint32_t width : missing)
            out.insert(out.end(), {4u << 16 | OpExecutionMode, w[2], mode, width});
    });
    return out;
}

std::vector<std::uint32_t> without_preserve_mode(Words spirv, std::span<const std::uint32_t> widths)
{
    bool removes = false, remains = false;
    for_each_instruction(spirv, [&](Words w) {
        if (is_mode(w)) (contains(widths, w[3]) ? removes : remains) = true;
    });
    std::vector<std::uint32_t> out(spirv.begin(), spirv.end());
    if (!removes) return out;
    out.resize(spirv_header_words);
    for_each_instruction(spirv, [&](Words w) {
        const bool removed = is_mode(w) ? contains(widths, w[3]) : is_capability(w) && !remains;
        if (!removed) out.insert(out.end(), w.begin(), w.end());
    });
    return out;
}

} // namespace reprise::device
