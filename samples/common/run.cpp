#include "run.hpp"

#include <array>
#include <cstdio>

#include <reprise/reprise.hpp>

namespace rp = reprise;
namespace fs = std::filesystem;

std::string device_text(const rp::Device& device)
{
    for (const rp::DeviceDescription& d : rp::devices())
        if (d.name == device.name()) return d.name + ", " + d.description + " (" + d.kind + ")";
    return device.name() + ", " + device.description();
}

std::string memory_text(const rp::CallMemory& m)
{
    constexpr double mib = 1 << 20;
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.1f MiB", static_cast<double>(m.peak + m.outputs) / mib);
    return text.data();
}

void print_results(const fs::path& folder, std::initializer_list<std::pair<const char*, const char*>> files)
{
    std::printf("Results in %s:\n", rp::path_text(folder).c_str());
    for (const auto& [file, what] : files) std::printf("  %-27s %s\n", file, what);
}

void make_folder(const fs::path& folder, std::initializer_list<const char*> files)
{
    std::error_code error;
    fs::create_directories(folder, error);
    if (error || !fs::is_directory(folder))
        throw rp::Error(rp::ErrorKind::file, "The folder (" + rp::path_text(folder) +
                                                 ") for the results can't be made: " +
                                                 (error ? error.message() : "a file has its name") + ".");
    for (const char* file : files) const rp::WholeFile probe(folder / file);
}

void require_same_run(const fs::path& checkpoint, const std::string& signature)
{
    std::string made_with;
    rp::train::load_checkpoint(checkpoint, {{"signature", made_with}}, {.strict = false, .generator = false});
    if (made_with != signature)
        throw rp::Error(rp::ErrorKind::argument,
                        rp::path_text(checkpoint) + ": the checkpoint is of another run (" + made_with +
                            "; this one: " + signature + "): leave --resume out, or give another --out.");
}
