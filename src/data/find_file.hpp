#pragma once
#include <filesystem>
#include <string>

namespace reprise::data {

// The file in the folder, as it is called or with .gz behind.  Error(file), with the advice, where neither
// is there.
std::filesystem::path find_file(const char* op, const std::filesystem::path& directory,
                                const std::string& name, const std::string& advice);

} // namespace reprise::data
