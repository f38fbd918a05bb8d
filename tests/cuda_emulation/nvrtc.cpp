// A libnvrtc that compiles for the host, by the compiler that the tests were built with: its image is a shared library,
// which the emulated driver opens.
#include <nvrtc.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "image.hpp"

#define RP_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

namespace fs = std::filesystem;

struct Program {
    std::string text, log, image;
    std::vector<std::pair<std::string, std::string>> headers;
};

Program& of(nvrtcProgram p) { return *reinterpret_cast<Program*>(p); }

void write(const fs::path& path, const std::string& text)
{
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

std::string read(const fs::path& path)
{
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

} // namespace

RP_EXPORT nvrtcResult nvrtcVersion(int* major, int* minor)
{
    *major = 0; // of nobody
    *minor = 1;
    return NVRTC_SUCCESS;
}

RP_EXPORT nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* text, const char*, int headers,
                                         const char* const* texts, const char* const* names)
{
    auto* p = new Program{text, {}, {}, {}};
    for (int i = 0; i < headers; ++i) p->headers.emplace_back(names[i], texts[i]);
    *program = reinterpret_cast<nvrtcProgram>(p);
    return NVRTC_SUCCESS;
}

RP_EXPORT nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program)
{
    delete &of(*program);
    *program = nullptr;
    return NVRTC_SUCCESS;
}

RP_EXPORT nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int, const char* const*)
{
    static int number = 0;
    Program& p = of(program);
    const fs::path folder = fs::temp_directory_path() /
                            ("reprise-nvrtc-" + std::to_string(getpid()) + "-" + std::to_string(++number));
    write(folder / "kernel.cpp", p.text);
    for (const auto& [name, text] : p.headers) write(folder / name, text);
    const std::string at = folder.string();
    const std::string command =
        std::string(REPRISE_HOST_COMPILER) +
        " -std=c++20 -O1 -w -fwrapv -fno-strict-aliasing -ffp-contract=off -fPIC -shared -s -I" + at +
        " -I" REPRISE_EMULATION_SOURCE " -o " + at + "/kernel.so " + at +
        "/kernel.cpp " REPRISE_EMULATION_LIBRARY " > " + at + "/log 2>&1";
    const bool compiled = std::system(command.c_str()) == 0;
    p.log = read(folder / "log");
    if (compiled) p.image = cuda_emulation::image_of(read(folder / "kernel.so"));
    fs::remove_all(folder);
    return compiled ? NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
}

RP_EXPORT nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, std::size_t* bytes)
{
    *bytes = of(program).log.size() + 1;
    return NVRTC_SUCCESS;
}
RP_EXPORT nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* text)
{
    std::memcpy(text, of(program).log.c_str(), of(program).log.size() + 1);
    return NVRTC_SUCCESS;
}
RP_EXPORT nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, std::size_t* bytes)
{
    *bytes = of(program).image.size();
    return NVRTC_SUCCESS;
}
RP_EXPORT nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* image)
{
    std::memcpy(image, of(program).image.data(), of(program).image.size());
    return NVRTC_SUCCESS;
}
