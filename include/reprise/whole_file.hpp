// Files that are written atomically: in full or not at all.
#pragma once
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string_view>

namespace reprise {

// Writes a file atomically: the data is written to a temporary file, which commit() renames.  Without
// commit() an existing file of that name does not change.
class WholeFile {
public:
    explicit WholeFile(std::filesystem::path); // Error(file) where the file cannot be created in its folder
    ~WholeFile();                              // removes the temporary file unless commit() was called
    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;
    // Appends bytes.  Throws Error(file) where they cannot be written, Error(state) after commit().
    void write(std::span<const std::byte>);
    void write(std::string_view); // the same with text
    // Flushes the data to the disk and gives the file its name.  Errors as of write().
    void commit();

private:
    [[noreturn]] void fail(const char* what) const;
    std::filesystem::path path_, temporary_;
    std::FILE* file_ = nullptr;
};

} // namespace reprise
