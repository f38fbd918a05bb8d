// Build tool: checks SPIR-V and writes it as C++.  cmake/RepriseShaders.cmake calls it.
//
//   embed_spirv embed LIST OUT.cpp       the kernels that LIST names, one .spv a line, as constant arrays
//   embed_spirv registry LIST OUT.cpp    reprise::device::embedded_kernels() over them
//
// The check: what a driver might contract or round in its own way must not be there.  Every float operation
// carries NoContraction (the shader's text is `precise`); nothing of GLSL.std.450 hides products and sums.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Words = std::vector<std::uint32_t>;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

// Numbers from the SPIR-V specification.
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
    {46, "FMix"},  {49, "SmoothStep"}, {50, "Fma"},     {66, "Length"},  {67, "Distance"},
    {68, "Cross"}, {69, "Normalize"},  {71, "Reflect"}, {72, "Refract"},
};

enum : std::uint32_t { OpName = 5, OpExtInstImport = 11, OpExtInst = 12, OpFunction = 54, OpDecorate = 71 };
constexpr std::uint32_t magic = 0x07230203, no_contraction = 42, header_words = 5;

std::string literal(const Words& spirv, std::size_t from, std::size_t end)
{
    std::string text;
    for (std::size_t i = from; i < end; ++i)
        for (int byte = 0; byte < 4; ++byte) {
            const char c = static_cast<char>(spirv[i] >> (8 * byte) & 255);
            if (c == 0) return text;
            text += c;
        }
    return text;
}

struct Instruction {
    std::uint32_t opcode;
    std::size_t at, end; // words of the module
};

std::vector<Instruction> instructions(const std::string& kernel, const Words& spirv)
{
    if (spirv.size() < header_words || spirv[0] != magic) fail(kernel + ": not a SPIR-V module");
    std::vector<Instruction> list;
    for (std::size_t i = header_words; i < spirv.size();) {
        const std::size_t length = spirv[i] >> 16;
        if (length == 0 || i + length > spirv.size()) fail(kernel + ": a broken SPIR-V module");
        list.push_back({spirv[i] & 65535u, i, i + length});
        i += length;
    }
    return list;
}

// Sentences, one for each operation that a driver may change.
std::vector<std::string> faults(const std::string& kernel, const Words& spirv)
{
    const std::vector<Instruction> list = instructions(kernel, spirv);
    std::set<std::uint32_t> decorated;
    std::map<std::uint32_t, std::string> names;
    std::uint32_t glsl = 0, function = 0;
    std::vector<std::string> found;
    for (const Instruction& in : list) {
        const std::uint32_t* w = spirv.data() + in.at;
        const std::size_t length = in.end - in.at;
        if (in.opcode == OpDecorate && length >= 3 && w[2] == no_contraction) decorated.insert(w[1]);
        if (in.opcode == OpName && length >= 3) names[w[1]] = literal(spirv, in.at + 2, in.end);
        if (in.opcode == OpFunction && length >= 5) function = w[2];
        if (in.opcode == OpExtInstImport && length >= 3 &&
            literal(spirv, in.at + 2, in.end) == "GLSL.std.450")
            glsl = w[1];
        const auto place = [&] {
            const auto name = names.find(function);
            return kernel + ": %" + std::to_string(w[2]) +
                   (name == names.end() ? "" : " in " + name->second) + " = ";
        };
        const auto operation = float_operations.find(in.opcode);
        if (operation != float_operations.end() && length >= 3 && !decorated.count(w[2]))
            found.push_back(place() + operation->second +
                            " lacks NoContraction: make the result or local that it flows into `precise`"
                            " (and leave [[unroll]] off: spirv-opt's copies lose it)");
        if (in.opcode == OpExtInst && length >= 5 && w[3] == glsl) {
            const auto instruction = contracted_instructions.find(w[4]);
            if (instruction != contracted_instructions.end())
                found.push_back(place() + instruction->second +
                                " hides products and sums: write them out, on `precise` locals");
        }
    }
    return found;
}

Words read_words(const std::filesystem::path& path)
{
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) fail("cannot read " + path.string());
    const std::streamoff bytes = in.tellg();
    if (bytes < 0 || bytes % 4 != 0) fail(path.string() + ": not whole words");
    Words words(static_cast<std::size_t>(bytes) / 4);
    in.seekg(0);
    in.read(reinterpret_cast<char*>(words.data()), bytes);
    if (!in) fail("cannot read " + path.string());
    return words;
}

std::vector<std::filesystem::path> read_list(const std::filesystem::path& path)
{
    std::ifstream in(path);
    if (!in) fail("cannot read " + path.string());
    std::vector<std::filesystem::path> list;
    for (std::string line; std::getline(in, line);)
        if (!line.empty()) list.emplace_back(line);
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.stem() < b.stem(); });
    return list;
}

std::string kernel_name(const std::filesystem::path& spv)
{
    std::string name = spv.stem().string();
    const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
    if (name.empty() || !std::all_of(name.begin(), name.end(), fits))
        fail("a kernel's name is made of a-z, 0-9 and _, not \"" + name + "\"");
    return name;
}

std::string embedded(const std::vector<std::filesystem::path>& list)
{
    std::string out = "// Generated from shaders/ by embed_spirv.\n#include <cstddef>\n#include <cstdint>\n\n"
                      "namespace reprise::device::spirv {\n";
    std::vector<std::string> found;
    for (const auto& path : list) {
        const std::string name = kernel_name(path);
        const Words words = read_words(path);
        for (const std::string& fault : faults(name, words)) found.push_back(fault);
        out += "\nextern const std::uint32_t " + name + "_words[" + std::to_string(words.size()) + "] = {";
        for (std::size_t i = 0; i < words.size(); ++i)
            out += (i % 16 == 0 ? "\n    " : " ") + std::to_string(words[i]) + "u,";
        out += "\n};\nextern const std::size_t " + name + "_count = " + std::to_string(words.size()) + ";\n";
    }
    if (!found.empty()) {
        std::string all = std::to_string(found.size()) + " float operations that drivers may change:";
        for (std::size_t i = 0; i < found.size() && i < 20; ++i) all += "\n  " + found[i];
        fail(all);
    }
    return out + "\n}\n";
}

std::string registry(const std::vector<std::filesystem::path>& list)
{
    std::string declared, entries;
    std::string last;
    for (const auto& path : list) {
        const std::string name = kernel_name(path);
        if (name == last) fail("two kernels have the name " + name);
        last = name;
        declared += "extern const std::uint32_t " + name + "_words[];\nextern const std::size_t " + name +
                    "_count;\n";
        entries += "        {\"" + name + "\", spirv::" + name + "_words, spirv::" + name + "_count},\n";
    }
    if (list.empty())
        return "#include \"device/embedded_kernels.hpp\"\n\nnamespace reprise::device {\n\n"
               "std::span<const EmbeddedKernel> embedded_kernels() noexcept { return {}; }\n\n}\n";
    return "// Generated from shaders/ by embed_spirv.\n#include \"device/embedded_kernels.hpp\"\n\n"
           "namespace reprise::device {\n\nnamespace spirv {\n" +
           declared +
           "}\n\n"
           "std::span<const EmbeddedKernel> embedded_kernels() noexcept\n{\n"
           "    static const EmbeddedKernel all[] = {\n" +
           entries + "    };\n    return all;\n}\n\n}\n";
}

} // namespace

int main(int argc, char** argv)
{
    try {
        const std::string mode = argc == 4 ? argv[1] : "";
        if (mode != "embed" && mode != "registry") fail("usage: embed_spirv embed|registry LIST OUT.cpp");
        const auto list = read_list(argv[2]);
        const std::string text = mode == "embed" ? embedded(list) : registry(list);
        std::ofstream out(argv[3], std::ios::binary);
        out << text;
        out.close();
        if (!out) fail(std::string("cannot write ") + argv[3]);
        return 0;
    } catch (const std::exception& e) {
        std::cerr << "embed_spirv: " << e.what() << "\n";
        return 1;
    }
}
