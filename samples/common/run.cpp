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
    std::array<char, 100> text{};
    std::snprintf(text.data(), text.size(), "%.1f MiB, arena %.3f times what one launch needs",
                  static_cast<double>(m.peak + m.outputs) / mib,
                  m.lower_bound ? static_cast<double>(m.peak) / static_cast<double>(m.lower_bound) : 1.0);
    return text.data();
}

void make_folder(const fs::path& folder, std::initializer_list<const char*> files)
{
    std::error_code error;
    fs::create_directories(folder, error);
    if (error || !fs::is_directory(folder))
        throw rp::Error(rp::ErrorKind::file, "The folder (" + folder.string() +
                                                 ") for the results can't be made: " +
                                                 (error ? error.message() : "a file has its name") + ".");
    for (const char* file : files) const rp::WholeFile probe(folder / file);
}
