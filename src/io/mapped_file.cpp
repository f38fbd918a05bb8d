#include "io/mapped_file.hpp"

#include <cerrno>
#include <string>
#include <system_error>

#include <reprise/error.hpp>
#include <reprise/path_text.hpp>

#if defined(_WIN32)
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace reprise::io {

namespace {

// Maps the whole file, which may be empty; sets `error` if it can't.
#if defined(_WIN32)

MappedFile map(const std::filesystem::path& path, std::error_code& error)
{
    const HANDLE file =
        CreateFileW(path.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                    nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
    const auto last_error = [] {
        return std::error_code(static_cast<int>(GetLastError()), std::system_category());
    };
    if (file == INVALID_HANDLE_VALUE) {
        error = last_error();
        return {};
    }
    LARGE_INTEGER size{};
    HANDLE mapping = nullptr;
    const void* start = nullptr;
    const bool known = GetFileSizeEx(file, &size) != 0;
    if (known && size.QuadPart > 0) {
        mapping = CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
        if (mapping) start = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
    }
    if (!known || (size.QuadPart > 0 && !start)) error = last_error();
    if (mapping) CloseHandle(mapping); // the view stays
    CloseHandle(file);
    if (!start) return {};
    return {std::shared_ptr<const void>(start, [](const void* p) { UnmapViewOfFile(p); }),
            {static_cast<const std::byte*>(start), static_cast<std::size_t>(size.QuadPart)}};
}

#else

MappedFile map(const std::filesystem::path& path, std::error_code& error)
{
    const auto last_error = [] { return std::error_code(errno, std::generic_category()); };
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        error = last_error();
        return {};
    }
    struct stat status {};
    const bool known = fstat(descriptor, &status) == 0;
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const start =
        known && size > 0 ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0) : nullptr;
    if (!known || start == MAP_FAILED) error = last_error();
    close(descriptor); // the mapping stays
    if (error || !start) return {};
    return {std::shared_ptr<const void>(start, [size](void* p) { munmap(p, size); }),
            {static_cast<const std::byte*>(start), size}};
}

#endif

} // namespace

MappedFile map_file(const char* op, const std::filesystem::path& path)
{
    std::error_code error;
    MappedFile file;
    const bool is_file =
        std::filesystem::is_regular_file(path, error); // opening a pipe would wait for its writer
    if (is_file) file = map(path, error);
    if (!is_file || error)
        detail::fail(ErrorKind::file, op, "The file (", path_text(path), ") can't be opened",
                     is_file ? " (" + error.message() + ")" : std::string(),
                     ": check that it exists and may be read.");
    return file;
}

} // namespace reprise::io
