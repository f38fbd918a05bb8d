#pragma once
#include <filesystem>
#include <string>

namespace reprise::data {

// Returns the path of the file in the folder, under its name or with .gz appended. Throws Error(file), with the
// advice, if neither exists.
std::filesystem::path find_file(const char* op, const std::filesystem::path& directory,
                                const std::string& name, const std::string& advice);

} // namespace reprise::data
