#pragma once
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include <zlib.h>

#include <reprise/error.hpp>
#include <reprise/path_text.hpp>

namespace reprise::data {

// Reads a file, plain or compressed with gzip: zlib reads both. Throws Error(file) with the name of the file.
class Reader {
public:
    Reader(const char* op, const std::filesystem::path& path) : op_(op), path_(path)
    {
        std::error_code error;
        if (std::filesystem::is_regular_file(path, error)) file_.reset(open(path));
        if (!file_) fail("can't be opened: check that it exists and may be read");
    }

    // Reads `count` bytes, or fewer at the end of the file, and returns their number.
    std::size_t read(std::uint8_t* to, std::size_t count)
    {
        std::size_t done = 0;
        while (done < count) {
            const auto part = static_cast<unsigned>(std::min<std::size_t>(count - done, 1U << 30));
            const int got = gzread(file_.get(), to + done, part);
            int status = Z_OK;
            const char* message = gzerror(file_.get(), &status);
            if (status == Z_BUF_ERROR) fail("is truncated: its compressed data ends early");
            if (got < 0 || status != Z_OK) fail(std::string("can't be read: ") + message);
            if (got == 0) break;
            done += static_cast<std::size_t>(got);
        }
        return done;
    }

    template <class... Parts> [[noreturn]] void fail(const Parts&... parts) const
    {
        detail::fail(ErrorKind::file, op_, "The file (", path_text(path_), ") ", parts..., ".");
    }

private:
    struct Close {
        void operator()(gzFile_s* f) const { gzclose(f); }
    };
    static gzFile_s* open(const std::filesystem::path& path)
    {
#if defined(_WIN32)
        return gzopen_w(path.c_str(), "rb");
#else
        return gzopen(path.c_str(), "rb");
#endif
    }
    const char* op_; // the function that errors name
    const std::filesystem::path& path_;
    std::unique_ptr<gzFile_s, Close> file_;
};

} // namespace reprise::data
