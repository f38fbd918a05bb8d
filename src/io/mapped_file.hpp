// Files as read-only memory.
#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace reprise::io {

struct MappedFile {
    std::shared_ptr<const void> owner; // of the bytes
    std::span<const std::byte> bytes;
};

// Maps a regular file.  Throws Error(file), in the name of `op`.
MappedFile map_file(const char* op, const std::filesystem::path&);

} // namespace reprise::io
