#include <reprise/whole_file.hpp>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <utility>

#include <reprise/error.hpp>
#include <reprise/path_text.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#if defined(_WIN32)
#include <io.h>
#else
#include <unistd.h>
#endif

namespace reprise {

namespace {

namespace fs = std::filesystem;

// Returns where links lead, also where there is nothing yet.  Links in /proc, such as those of /dev/stdout, lead to
// what has no name, so these are left as they are.
fs::path followed(fs::path path)
{
    constexpr int most = 40; // as of Linux; a loop is then an error of the system
    std::error_code error;
    for (int links = 0; links < most && fs::is_symlink(path, error); ++links) {
        const fs::path to = fs::read_symlink(path, error);
        if (error || path.native().starts_with(fs::path("/proc/").native())) break;
        path = to.is_absolute() ? to : path.parent_path() / to;
    }
    return path;
}

// Ensures that the data is on the disk before the name refers to it, even if power fails.
bool flush_to_disk(std::FILE* file)
{
    if (std::fflush(file) != 0) return false;
#if defined(_WIN32)
    return _commit(_fileno(file)) == 0;
#else
    return fsync(fileno(file)) == 0 || errno == EINVAL || errno == EROFS ||
           errno == ENOTSUP; // pipes and some file systems can't
#endif
}

// Opens a file, and creates it if the flags say so.
std::FILE* open_file(const fs::path& path, int flags, [[maybe_unused]] int mode)
{
#if defined(_WIN32) // msvcrt has no mode "x"
    const int descriptor = _wopen(path.c_str(), flags | _O_WRONLY | _O_BINARY, _S_IREAD | _S_IWRITE);
    return descriptor < 0 ? nullptr : _fdopen(descriptor, "wb");
#else
    const int descriptor = open(path.c_str(), flags | O_WRONLY | O_CLOEXEC | O_NOCTTY, mode);
    return descriptor < 0 ? nullptr : fdopen(descriptor, "wb");
#endif
}

// In the folder of the file, since a rename is atomic only inside one file system; unique, since several processes may
// write.  Checkpoints know what was left half-written by ".partial-".  A long name is left out, as it may already have
// the length that the system allows.
fs::path temporary_path(const fs::path& target)
{
    static std::atomic<std::uint32_t> counter{std::random_device{}()};
    constexpr std::size_t most = 100;
    fs::path name = target.filename().native().size() <= most ? target.filename() : fs::path(".reprise");
    name += ".partial-" + std::to_string(counter.fetch_add(1));
    return target.parent_path() / name;
}

// Copies a file over what stands at another path, which keeps its identity.
bool copy_in_place(const fs::path& from, const fs::path& to)
{
    std::ifstream in(from, std::ios::binary);
    std::FILE* const out = open_file(to, O_TRUNC, 0);
    if (!out) return false;
    char bytes[1 << 16];
    bool copied = in.is_open();
    while (copied && in.read(bytes, sizeof bytes).gcount() > 0) {
        const auto count = static_cast<std::size_t>(in.gcount());
        copied = std::fwrite(bytes, 1, count, out) == count;
    }
    copied = copied && in.eof() && flush_to_disk(out);
    const int cause = errno;
    if (std::fclose(out) != 0) return false;
    errno = cause;
    return copied;
}

} // namespace

WholeFile::WholeFile(fs::path path) : path_(std::move(path)), target_(followed(path_))
{
    std::error_code error;
    const fs::file_status found = fs::status(target_, error);
    if (target_.filename().empty() || fs::is_directory(found)) {
        errno = EISDIR;
        fail("can't be written");
    }
    if (!fs::status_known(found)) { // such as a loop of links, or a name that is too long
        errno = error.default_error_condition().value();
        fail("can't be written");
    }
    if (fs::is_block_file(found) || fs::is_socket(found))
        detail::fail(ErrorKind::file, "write", "The file (", path_text(path_),
                     ") is a block device or a socket, which can't be written.");
    if (fs::exists(found)) open_existing();
    else open_new();
    if (!file_) fail("can't be written");
}

void WholeFile::open_new()
{
    temporary_ = temporary_path(target_);
    file_ = open_file(temporary_, O_CREAT | O_EXCL, 0666);
}

void WholeFile::open_existing()
{
    std::error_code error;
    if (const fs::file_status found = fs::status(target_, error);
        !fs::is_regular_file(found) || target_.native().starts_with(fs::path("/proc/").native())) {
        file_ = open_file(target_, O_TRUNC, 0);
        return;
    }
#if defined(_WIN32)
    open_new();
#else
    struct stat old {};
    if (stat(target_.c_str(), &old) != 0) return;
    if ((old.st_mode & 0222) == 0) errno = EACCES; // root could replace it all the same
    else if (faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) == 0) {
        temporary_ = temporary_path(target_);
        file_ = open_file(temporary_, O_CREAT | O_EXCL, 0600); // nobody else may read it meanwhile
        if (!file_) return;
        // Only root may give a file away.  Where the group can't be kept, it gets no more rights than all others have.
        const bool owned = fchown(fileno(file_), old.st_uid, old.st_gid) == 0 ||
                           fchown(fileno(file_), static_cast<uid_t>(-1), old.st_gid) == 0;
        const mode_t others = old.st_mode & 07;
        const mode_t mode =
            owned ? old.st_mode & 0777 : (old.st_mode & 0707) | ((old.st_mode & 070) & others << 3);
        fchmod(fileno(file_), mode);
    }
#endif
}

WholeFile::~WholeFile()
{
    if (!file_) return;
    std::fclose(file_);
    std::error_code ignored;
    if (!temporary_.empty()) fs::remove(temporary_, ignored);
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
    if (std::fclose(std::exchange(file_, nullptr)) != 0) {
        const int cause = errno;
        std::error_code ignored;
        if (!temporary_.empty()) fs::remove(temporary_, ignored);
        errno = cause;
        fail("can't be written in full");
    }
    if (!temporary_.empty()) replace();
}

// Gives the temporary file its name.
void WholeFile::replace()
{
    std::error_code error, ignored;
    fs::rename(temporary_, target_, error);
    if (!error) return;
    int cause = error.default_error_condition().value();                        // of errno's numbers
    if (cause == EBUSY) cause = copy_in_place(temporary_, target_) ? 0 : errno; // a mount point
    fs::remove(temporary_, ignored);
    errno = cause;
    if (cause != 0) fail("can't be written in full");
}

} // namespace reprise
