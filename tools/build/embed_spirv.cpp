// Build tool: checks SPIR-V and writes it as C++, for cmake/RepriseShaders.cmake.
//
//   embed_spirv embed LIST OUT.cpp       the kernels in LIST, one .spv per line, packed (src/device/packed_spirv.hpp)
//   embed_spirv registry LIST OUT.cpp    reprise::device::embedded_kernels() for them
//   embed_spirv texts LIST OUT.cpp       reprise::kernels::shader_texts(), one NAME=FILE per line, for kernels that are
//                                        compiled at run time
//
// Fails if src/device/spirv_check.hpp finds a fault.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "device/float_controls.hpp"
#include "device/packed_spirv.hpp"
#include "device/spirv_check.hpp"
#include "pack_spirv.hpp"

namespace {

using Words = std::vector<std::uint32_t>;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

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

void add_packed(std::string& out, const std::string& name, const reprise::device::PackedText& packed,
                const std::string& base)
{
    out += "\nconst std::uint8_t " + name + "_bytes[] = {";
    for (std::size_t i = 0; i < packed.bytes.size(); ++i)
        out += (i % 24 == 0 ? "\n    " : "") + std::to_string(packed.bytes[i]) + ",";
    out += "\n};\nextern const PackedSpirv " + name + " = {" + name + "_bytes, " +
           std::to_string(packed.bytes.size()) + ", " + std::to_string(packed.inflated) + ", " + base +
           "};\n";
}

// Fails unless the packed module unpacks to the same words.
void check_packed(const std::string& name, const Words& words, const reprise::device::PackedText& packed,
                  const Words& base)
{
    const auto packed_base = reprise::device::pack(base.empty() ? words : base, {});
    const auto view = [](const reprise::device::PackedText& p, const reprise::device::PackedSpirv* of) {
        return reprise::device::PackedSpirv{p.bytes.data(), static_cast<std::uint32_t>(p.bytes.size()),
                                            p.inflated, of};
    };
    const auto of = view(packed_base, nullptr);
    if (reprise::device::unpack(view(packed, base.empty() ? nullptr : &of)) != words)
        fail(name + ": not what was packed comes out");
}

std::string embedded(const std::vector<std::filesystem::path>& list)
{
    std::vector<std::string> names, found;
    std::vector<Words> modules;
    for (const auto& path : list) {
        names.push_back(kernel_name(path));
        modules.push_back(reprise::device::with_float_controls(read_words(path)));
        for (const std::string& fault : reprise::device::spirv_faults(names.back(), modules.back()))
            found.push_back(fault);
    }
    if (!found.empty()) {
        std::string all = std::to_string(found.size()) + " float operations that drivers may change:";
        for (std::size_t i = 0; i < found.size() && i < 20; ++i) all += "\n  " + found[i];
        fail(all);
    }
    std::string out = "// Generated from shaders/ by embed_spirv.\n#include \"device/packed_kernel.hpp\"\n\n"
                      "namespace reprise::device::spirv {\n";
    const std::vector<std::size_t> bases = reprise::device::choose_bases(modules);
    for (std::size_t i = 0; i < modules.size(); ++i) { // a base precedes the modules that need it
        const Words base = bases[i] == i ? Words{} : modules[bases[i]];
        const auto packed = reprise::device::pack(modules[i], base);
        check_packed(names[i], modules[i], packed, base);
        add_packed(out, names[i], packed, bases[i] == i ? "nullptr" : "&" + names[bases[i]]);
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
        declared += "extern const PackedSpirv " + name + ";\n";
        entries += "        {\"" + name + "\", &spirv::" + name + "},\n";
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

// Returns a line of GLSL as a C++ literal, without comments other than a list of variants.  Empty if nothing is left,
// or if the including text has the directive itself.
std::string literal_line(std::string line)
{
    if (line.rfind("#version", 0) == 0 || line.rfind("#extension GL_GOOGLE_include", 0) == 0) return {};
    if (line.rfind("// variants:", 0) != 0) line = line.substr(0, line.find("//"));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty()) return {};
    std::string out = "\"";
    for (const char c : line) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\\n\"";
}

std::string texts(const std::vector<std::filesystem::path>& list)
{
    std::string out = "// Generated from shaders/ by embed_spirv.\n#include \"kernels/shader_texts.hpp\"\n\n"
                      "namespace reprise::kernels {\n\n"
                      "std::span<const ShaderText> shader_texts() noexcept\n{\n"
                      "    static const ShaderText all[] = {\n";
    for (const auto& entry : list) {
        const std::string text = entry.string();
        const std::size_t equals = text.find('=');
        std::ifstream in(text.substr(equals + 1));
        if (equals == std::string::npos || !in) fail("cannot read " + text);
        out += "        {\"" + text.substr(0, equals) + "\",\n";
        for (std::string line; std::getline(in, line);)
            if (const std::string literal = literal_line(line); !literal.empty()) out += literal + "\n";
        out += "        },\n";
    }
    return out + "    };\n    return all;\n}\n\n}\n";
}

} // namespace

int main(int argc, char** argv)
{
    try {
        const std::string mode = argc == 4 ? argv[1] : "";
        if (mode != "embed" && mode != "registry" && mode != "texts")
            fail("usage: embed_spirv embed|registry|texts LIST OUT.cpp");
        const auto list = read_list(argv[2]);
        const std::string text = mode == "embed"      ? embedded(list)
                                 : mode == "registry" ? registry(list)
                                                      : texts(list);
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
