#include "io/mapped_file.hpp"

#include <cerrno>
#include <cstring>
#include <string>

#include <reprise/error.hpp>

#if defined(_WIN32)
#include <fstream>
#include <vector>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace reprise::io {

MappedFile map_file(const char* op, const std::filesystem::path& path)
{
    const auto refuse = [&](const std::string& why) {
        detail::fail(ErrorKind::file, op, "The file (", path.string(), ") can't be opened", why,
                     ": check that it exists and may be read.");
    };
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error))
        refuse(""); // opening a pipe would wait for its writer
#if defined(_WIN32)
    const auto content = std::make_shared<std::vector<std::byte>>(std::filesystem::file_size(path, error));
    std::ifstream in(path, std::ios::binary);
    if (error ||
        !in.read(reinterpret_cast<char*>(content->data()), static_cast<std::streamsize>(content->size())))
        refuse("");
    return {content, *content};
#else
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) refuse(std::string(" (") + std::strerror(errno) + ")");
    struct stat status {};
    const bool known = fstat(descriptor, &status) == 0;
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const start =
        known && size > 0 ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0) : nullptr;
    const int cause = errno;
    close(descriptor); // the mapping stays
    if (!known || start == MAP_FAILED) refuse(std::string(" (") + std::strerror(cause) + ")");
    if (!start) return {};
    return {std::shared_ptr<const void>(start, [size](void* p) { munmap(p, size); }),
            {static_cast<const std::byte*>(start), size}};
#endif
}

} // namespace reprise::io
