#include <reprise/whole_file.hpp>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <random>
#include <string>
#include <utility>

#include <reprise/error.hpp>
#include <reprise/path_text.hpp>

#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#else
#include <unistd.h>
#endif

namespace reprise {

namespace {

// Creates a file, which must not exist.
std::FILE* create(const std::filesystem::path& path)
{
#if defined(_WIN32) // msvcrt has no mode "x"
    const int descriptor =
        _wopen(path.c_str(), _O_CREAT | _O_EXCL | _O_WRONLY | _O_BINARY, _S_IREAD | _S_IWRITE);
    return descriptor < 0 ? nullptr : _fdopen(descriptor, "wb");
#else
    return std::fopen(path.c_str(), "wbx");
#endif
}

// Ensures that the data is on the disk before the name refers to it, even if power fails.
bool flush_to_disk(std::FILE* file)
{
    if (std::fflush(file) != 0) return false;
#if defined(_WIN32)
    return _commit(_fileno(file)) == 0;
#else
    return fsync(fileno(file)) == 0 || errno == EINVAL ||
           errno == ENOTSUP; // pipes and some file systems can't
#endif
}

// In the same folder, since a rename is atomic only inside one file system; unique, since several processes may write.
std::filesystem::path temporary_path(std::filesystem::path path)
{
    static std::atomic<unsigned> counter{std::random_device{}()};
    path += ".partial-" + std::to_string(counter.fetch_add(1));
    return path;
}

} // namespace

WholeFile::WholeFile(std::filesystem::path path) : path_(std::move(path)), temporary_(temporary_path(path_))
{
    std::error_code ignored; // fopen reports errors of a path that can't be queried
    if (path_.filename().empty() || std::filesystem::is_directory(path_, ignored)) {
        errno = EISDIR;
        fail("can't be written");
    }
    file_ = create(temporary_);
    if (!file_) fail("can't be written");
}

WholeFile::~WholeFile()
{
    if (!file_) return;
    std::fclose(file_);
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
}

void WholeFile::fail(const char* what) const
{
    detail::fail(ErrorKind::file, "write", "The file (", path_text(path_), ") ", what, ": ",
                 std::strerror(errno), ".");
}

void WholeFile::write(std::span<const std::byte> bytes)
{
    if (!file_)
        detail::fail(ErrorKind::state, "write", "The file (", path_text(path_), ") is committed already.");
    if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size())
        fail("can't be written in full");
}

void WholeFile::write(std::string_view text) { write(std::as_bytes(std::span<const char>(text))); }

void WholeFile::commit()
{
    if (!file_)
        detail::fail(ErrorKind::state, "write", "The file (", path_text(path_), ") is committed already.");
    if (!flush_to_disk(file_)) fail("can't be written in full");
    std::FILE* const file = std::exchange(file_, nullptr);
    const bool closed = std::fclose(file) == 0;
    std::error_code error;
    if (closed) std::filesystem::rename(temporary_, path_, error);
    if (!closed || error) {
        const int cause = closed ? error.default_error_condition().value() : errno; // of errno's numbers
        std::error_code ignored;
        std::filesystem::remove(temporary_, ignored);
        errno = cause;
        fail("can't be written in full");
    }
}

} // namespace reprise
