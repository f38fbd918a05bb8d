// Paths as text in UTF-8, on all systems.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace reprise {

// Returns the path in UTF-8.  std::filesystem::path::string() depends on the code page on Windows, where it throws
// std::system_error for names that the code page lacks.
inline std::string path_text(const std::filesystem::path& path)
{
    const std::u8string text = path.u8string();
    return {text.begin(), text.end()};
}

// Returns the path that this text in UTF-8 names.
inline std::filesystem::path path_of_text(std::string_view utf8)
{
    return std::filesystem::path(std::u8string(utf8.begin(), utf8.end()));
}

} // namespace reprise
