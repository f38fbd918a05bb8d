#include "base/library.hpp"
#include "device/cuda_compiler.hpp"
#include <algorithm>
#include <cuda.h>
#include <nvrtc.h>

#include <reprise/error.hpp>

namespace reprise::device::cuda {

namespace {

struct Nvrtc {
#define RP_NVRTC_FUNCTION(name) decltype(&::name) name = nullptr;
#include "device/cuda/nvrtc_functions.def"
#undef RP_NVRTC_FUNCTION
    std::string missing;
};

Nvrtc load()
{
    Nvrtc n;
    const std::string major = std::to_string(CUDA_VERSION / 1000);
#ifdef _WIN32
    const reprise::detail::Library library({"nvrtc64_" + major + "0_0.dll"});
#else
    const reprise::detail::Library library({"libnvrtc.so." + major, "libnvrtc.so"});
#endif
    if (!library) {
        n.missing = "NVRTC was not found: " + library.error();
        return n;
    }
#define RP_NVRTC_FUNCTION(name)                                                                              \
    n.name = library.find<std::remove_pointer_t<decltype(n.name)>>(#name);                                   \
    if (!n.name) n.missing = "NVRTC has no " #name;
#include "device/cuda/nvrtc_functions.def"
#undef RP_NVRTC_FUNCTION
    return n;
}

const Nvrtc& nvrtc()
{
    static const Nvrtc loaded = load();
    return loaded;
}

// An nvrtcProgram, destroyed at the end of its scope.
class Program {
public:
    Program(const std::string& name, const std::string& text,
            std::span<const std::pair<std::string, std::string>> headers)
    {
        std::vector<const char*> names, texts;
        for (const auto& [header, contents] : headers) {
            names.push_back(header.c_str());
            texts.push_back(contents.c_str());
        }
        nvrtc().nvrtcCreateProgram(&program_, text.c_str(), (name + ".cu").c_str(),
                                   static_cast<int>(names.size()), texts.data(), names.data());
    }
    ~Program() { nvrtc().nvrtcDestroyProgram(&program_); }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    bool compile(const std::vector<const char*>& options)
    {
        return nvrtc().nvrtcCompileProgram(program_, static_cast<int>(options.size()), options.data()) ==
               NVRTC_SUCCESS;
    }
    std::string log() const
    {
        std::size_t bytes = 0;
        nvrtc().nvrtcGetProgramLogSize(program_, &bytes);
        std::string text(bytes, '\0');
        if (bytes > 0) nvrtc().nvrtcGetProgramLog(program_, text.data());
        return text.c_str();
    }
    std::vector<std::uint32_t> code() const
    {
        std::size_t bytes = 0;
        nvrtc().nvrtcGetCUBINSize(program_, &bytes);
        std::vector<std::uint32_t> words((bytes + 3) / 4);
        if (bytes > 0) nvrtc().nvrtcGetCUBIN(program_, reinterpret_cast<char*>(words.data()));
        return words;
    }

private:
    nvrtcProgram program_ = nullptr;
};

} // namespace

const std::string& compiler_missing() { return nvrtc().missing; }

std::string compiler_version()
{
    int major = 0, minor = 0;
    if (compiler_missing().empty()) nvrtc().nvrtcVersion(&major, &minor);
    return "nvrtc " + std::to_string(major) + "." + std::to_string(minor);
}

std::string with_glsl_positions(std::string_view log)
{
    std::string out;
    for (std::size_t at = 0; at < log.size();) {
        const std::string_view line = log.substr(at, std::min(log.find('\n', at), log.size() - 1) + 1 - at);
        const std::size_t open = line.find_first_of(" (");
        const std::size_t close = std::min(line.find_first_not_of("0123456789", open + 1), line.size());
        if (open < line.size() && line[open] == '(' && close > open + 1 && line.substr(close, 2) == "):") {
            out += line.substr(0, open);
            out += ':';
            out += line.substr(open + 1, close - open - 1);
            out += line.substr(close + 1);
        } else {
            out += line;
        }
        at += line.size();
    }
    return out;
}

std::vector<std::uint32_t> compile(const std::string& name, const std::string& text,
                                   std::span<const std::pair<std::string, std::string>> headers,
                                   std::uint32_t compute_capability)
{
    if (!compiler_missing().empty()) {
        reprise::detail::fail(ErrorKind::unsupported, name.c_str(),
                              "The kernel can't be compiled: ", compiler_missing(), ".");
    }
    Program program(name, text, headers);
    const std::string architecture = "--gpu-architecture=sm_" + std::to_string(compute_capability);
    if (!program.compile({architecture.c_str(), "--std=c++20", "--fmad=false"})) {
        reprise::detail::fail(ErrorKind::argument, name.c_str(),
                              "The kernel does not compile: ", with_glsl_positions(program.log()));
    }
    return program.code();
}

} // namespace reprise::device::cuda
