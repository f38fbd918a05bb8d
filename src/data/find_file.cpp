#include "data/find_file.hpp"

#include <reprise/error.hpp>
#include <reprise/path_text.hpp>

namespace reprise::data {

std::filesystem::path find_file(const char* op, const std::filesystem::path& directory,
                                const std::string& name, const std::string& advice)
{
    std::error_code ignored;
    for (const char* ending : {"", ".gz"}) {
        const std::filesystem::path path = directory / (name + ending);
        if (std::filesystem::exists(path, ignored)) return path;
    }
    detail::fail(ErrorKind::file, op, "The folder (", path_text(directory), ") has no file (", name,
                 ") nor (", name, ".gz): ", advice, ".");
}

} // namespace reprise::data
