#include "device/float_controls.hpp"
#include "device/spirv.hpp"

#include <algorithm>

namespace reprise::device {

namespace {

bool is_mode(SpirvWords w)
{
    return opcode_of(w) == OpExecutionMode && w.size() >= 4 && w[2] == preserve_mode;
}
bool is_capability(SpirvWords w)
{
    return opcode_of(w) == OpCapability && w.size() >= 2 && w[1] == preserve_capability;
}

bool contains(std::span<const std::uint32_t> list, std::uint32_t value)
{
    return std::find(list.begin(), list.end(), value) != list.end();
}

// What a module has, and what it lacks.
struct Contents {
    bool has_capability = false;
    std::uint32_t entry = 0, glsl = 0;                 // ids
    std::vector<std::uint32_t> widths, missing_widths; // of the mode
    std::vector<std::uint32_t> decorated,
        fmas; // ids of results with NoContraction, and of those that lack it
};

Contents contents_of(SpirvWords spirv)
{
    Contents c;
    for_each_instruction(spirv, [&](SpirvWords w) {
        if (is_capability(w)) c.has_capability = true;
        if (imports_glsl(w)) c.glsl = w[1];
        if (is_mode(w)) c.widths.push_back(w[3]);
        if (opcode_of(w) == OpEntryPoint && w.size() >= 3) c.entry = w[2];
        if (opcode_of(w) == OpTypeFloat && w.size() >= 3 && w[2] >= 32 && !contains(c.widths, w[2]))
            c.missing_widths.push_back(w[2]);
        if (opcode_of(w) == OpDecorate && w.size() >= 3 && w[2] == no_contraction_decoration)
            c.decorated.push_back(w[1]);
        const bool is_fma = opcode_of(w) == OpExtInst && w.size() >= 5 && w[3] == c.glsl && w[4] == glsl_fma;
        if (is_fma && !contains(c.decorated, w[2])) c.fmas.push_back(w[2]);
    });
    return c;
}

} // namespace

std::vector<std::uint32_t> with_float_controls(SpirvWords spirv)
{
    Contents c = contents_of(spirv);
    std::vector<std::uint32_t> out(spirv.begin(), spirv.end());
    if (c.missing_widths.empty() && c.fmas.empty()) return out;
    out.resize(spirv_header_words);
    bool adds_capability = !c.missing_widths.empty() && !c.has_capability;
    bool after_entry_points = false;
    for_each_instruction(spirv, [&](SpirvWords w) {
        if (opcode_of(w) == OpCapability && adds_capability) { // capabilities are the first section
            out.insert(out.end(), {2u << 16 | OpCapability, preserve_capability});
            adds_capability = false;
        }
        if (after_entry_points && opcode_of(w) != OpEntryPoint) { // execution modes follow them
            for (const std::uint32_t width : c.missing_widths)
                out.insert(out.end(), {4u << 16 | OpExecutionMode, c.entry, preserve_mode, width});
            after_entry_points = false;
        }
        if (opcode_of(w) == OpEntryPoint) after_entry_points = true;
        if (opcode_of(w) == OpDecorate || opcode_of(w) == OpMemberDecorate) { // the first of its section
            for (const std::uint32_t id : c.fmas)
                out.insert(out.end(), {3u << 16 | OpDecorate, id, no_contraction_decoration});
            c.fmas.clear();
        }
        out.insert(out.end(), w.begin(), w.end());
    });
    return out;
}

std::vector<std::uint32_t> without_preserve_mode(SpirvWords spirv, std::span<const std::uint32_t> widths)
{
    bool removes = false, remains = false;
    for_each_instruction(spirv, [&](SpirvWords w) {
        if (is_mode(w)) (contains(widths, w[3]) ? removes : remains) = true;
    });
    std::vector<std::uint32_t> out(spirv.begin(), spirv.end());
    if (!removes) return out;
    out.resize(spirv_header_words);
    for_each_instruction(spirv, [&](SpirvWords w) {
        const bool removed = is_mode(w) ? contains(widths, w[3]) : is_capability(w) && !remains;
        if (!removed) out.insert(out.end(), w.begin(), w.end());
    });
    return out;
}

} // namespace reprise::device
