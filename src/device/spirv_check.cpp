// Also compiled into the build tool (tools/build/embed_spirv.cpp).
#include "device/spirv_check.hpp"
#include "device/spirv.hpp"

#include <map>
#include <set>

namespace reprise::device {

namespace {

// Opcodes of the SPIR-V specification.
const std::map<std::uint32_t, const char*> float_operations = {
    {127, "OpFNegate"},
    {129, "OpFAdd"},
    {131, "OpFSub"},
    {133, "OpFMul"},
    {136, "OpFDiv"},
    {140, "OpFRem"},
    {141, "OpFMod"},
    {142, "OpVectorTimesScalar"},
    {143, "OpMatrixTimesScalar"},
    {144, "OpVectorTimesMatrix"},
    {145, "OpMatrixTimesVector"},
    {146, "OpMatrixTimesMatrix"},
    {147, "OpOuterProduct"},
    {148, "OpDot"},
};
const std::map<std::uint32_t, const char*> contracted_instructions = {
    {46, "FMix"},  {49, "SmoothStep"}, {66, "Length"},  {67, "Distance"},
    {68, "Cross"}, {69, "Normalize"},  {71, "Reflect"}, {72, "Refract"},
};

} // namespace

std::vector<std::string> spirv_faults(const std::string& kernel, std::span<const std::uint32_t> spirv)
{
    if (!is_spirv(spirv) || spirv_instructions(spirv).size() < 2)
        return {kernel + ": no whole SPIR-V module"};
    std::set<std::uint32_t> decorated;
    std::map<std::uint32_t, std::string> names;
    std::uint32_t glsl = 0, function = 0;
    std::vector<std::string> found;
    std::set<std::uint32_t> preserved; // widths, bits
    for_each_instruction(spirv, [&](SpirvWords w) {
        const std::uint32_t opcode = opcode_of(w);
        const std::size_t length = w.size();
        if (opcode == OpDecorate && length >= 3 && w[2] == no_contraction_decoration) decorated.insert(w[1]);
        if (opcode == OpExecutionMode && length >= 4 && w[2] == preserve_mode) preserved.insert(w[3]);
        // Floats of 16 bits are only loaded and stored: kernels compute in 32 bits.
        if (opcode == OpTypeFloat && length >= 3 && w[2] >= 32 && !preserved.count(w[2]))
            found.push_back(kernel + ": it lacks the execution mode SignedZeroInfNanPreserve for " +
                            std::to_string(w[2]) + " bits (device/float_controls.hpp)");
        if (opcode == OpName && length >= 3) names[w[1]] = spirv_text(w, 2);
        if (opcode == OpFunction && length >= 5) function = w[2];
        if (imports_glsl(w)) glsl = w[1];
        const auto location = [&] {
            const auto name = names.find(function);
            return kernel + ": %" + std::to_string(w[2]) +
                   (name == names.end() ? "" : " in " + name->second) + " = ";
        };
        const auto operation = float_operations.find(opcode);
        if (operation != float_operations.end() && length >= 3 && !decorated.count(w[2]))
            found.push_back(location() + operation->second +
                            " lacks NoContraction: make the result or local that it flows into `precise`"
                            " (and leave [[unroll]] off: spirv-opt's copies lose it)");
        if (opcode == OpExtInst && length >= 5 && w[3] == glsl && w[4] == glsl_fma && !decorated.count(w[2]))
            found.push_back(location() + "Fma lacks NoContraction (device/float_controls.hpp)");
        if (opcode == OpExtInst && length >= 5 && w[3] == glsl) {
            const auto instruction = contracted_instructions.find(w[4]);
            if (instruction != contracted_instructions.end())
                found.push_back(location() + instruction->second +
                                " hides products and sums: write them out, on `precise` locals");
        }
    });
    return found;
}

} // namespace reprise::device
