// Files that are written atomically: in full or not at all.
#pragma once
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string_view>

namespace reprise {

// Writes a file atomically: the data is written to a temporary file in its folder, which commit() renames.  Without
// commit() an existing file of that name does not change.  What stands at the path decides about the rest:
//   - A link is followed; the file that it leads to is written.
//   - A file keeps its permissions, and its owner where that is allowed.  One that nobody may write is an error, even
//     for root.
//   - A pipe or a device of characters (/dev/null, /dev/stdout) is written at once, not atomically.
//   - A file that is mounted alone (docker -v file:file) can't be renamed, so commit() writes it in place.
//   - Folders, block devices and sockets are errors.
class WholeFile {
public:
    explicit WholeFile(std::filesystem::path); // Error(file) where the file cannot be created or written
    ~WholeFile();                              // removes the temporary file unless commit() was called
    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;
    // Appends bytes.  Throws Error(file) where they cannot be written, Error(state) after commit().
    void write(std::span<const std::byte>);
    void write(std::string_view); // the same with text
    // Flushes the data to the disk and gives the file its name.  Errors as of write().
    void commit();

private:
    [[noreturn]] void fail(const char* what) const; // with the text of errno
    void open_existing();
    void open_new();
    void replace();
    std::filesystem::path path_, target_; // as given, and with links followed
    std::filesystem::path temporary_;     // empty: what stands at the path is written itself
    std::FILE* file_ = nullptr;
};

} // namespace reprise
