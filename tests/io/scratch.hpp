// A folder of its own for a test, removed at its end.  Its name has letters that no code page of Windows has together.
#pragma once
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include <reprise/path_text.hpp>

class Scratch {
public:
    Scratch()
    {
        std::random_device random;
        do {
            path_ = std::filesystem::temp_directory_path() /
                    reprise::path_of_text("reprise-prüfung-測試-🦊-" + std::to_string(random()));
        } while (!std::filesystem::create_directory(path_));
    }
    ~Scratch()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::size_t files() const
    {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
    }
    friend std::filesystem::path operator/(const Scratch& s, const std::string& name)
    {
        return s.path_ / reprise::path_of_text(name);
    }

private:
    std::filesystem::path path_;
};

inline std::string read_text(const std::filesystem::path& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_text(const std::filesystem::path& path, const std::string& text)
{
    std::ofstream(path, std::ios::binary) << text;
}
