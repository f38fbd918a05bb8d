#include "run.hpp"

#include <reprise/reprise.hpp>

namespace rp = reprise;
namespace fs = std::filesystem;

std::string device_text(const rp::Device& device)
{
    for (const rp::DeviceDescription& d : rp::devices())
        if (d.name == device.name()) return d.name + ", " + d.description + " (" + d.kind + ")";
    return device.name() + ", " + device.description();
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
