#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include <zlib.h>

#include <reprise/data.hpp>

namespace reprise::data {

namespace {

// zlib reads plain files too, so there is one way for both.
class Reader {
public:
    explicit Reader(const std::filesystem::path& path) : path_(path)
    {
        std::error_code error;
        if (std::filesystem::is_regular_file(path, error)) file_.reset(gzopen(path.string().c_str(), "rb"));
        if (!file_) fail("can't be opened: check that it exists and may be read");
    }

    // As many bytes as there are, up to `count`.
    std::size_t read(std::uint8_t* to, std::size_t count)
    {
        std::size_t done = 0;
        while (done < count) {
            const auto part = static_cast<unsigned>(std::min<std::size_t>(count - done, 1u << 30));
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
        detail::fail(ErrorKind::file, "read_idx", "The file (", path_.string(), ") ", parts..., ".");
    }

private:
    struct Close {
        void operator()(gzFile_s* f) const { gzclose(f); }
    };
    const std::filesystem::path& path_;
    std::unique_ptr<gzFile_s, Close> file_;
};

// 4 bytes: 0, 0, element type, number of dimensions; then each size as u32, big-endian.
std::vector<std::int64_t> read_sizes(Reader& in)
{
    constexpr std::uint8_t unsigned_byte = 0x08;
    std::array<std::uint8_t, 4> magic{};
    if (in.read(magic.data(), magic.size()) < magic.size())
        in.fail("is truncated: it ends inside the IDX header");
    if (magic[0] != 0 || magic[1] != 0 || magic[3] == 0)
        in.fail("is no IDX file: its first bytes are (", int{magic[0]}, ", ", int{magic[1]}, ", ",
                int{magic[2]}, ", ", int{magic[3]}, ")");
    if (magic[2] != unsigned_byte)
        in.fail("has the IDX element type (", int{magic[2]}, "), but only unsigned bytes (8) are read");
    std::vector<std::int64_t> sizes(magic[3]);
    for (std::int64_t& size : sizes) {
        std::array<std::uint8_t, 4> word{};
        if (in.read(word.data(), word.size()) < word.size())
            in.fail("is truncated: it ends inside the IDX header");
        for (const std::uint8_t byte : word) size = size << 8 | byte;
    }
    return sizes;
}

} // namespace

IdxArray read_idx(const std::filesystem::path& path)
{
    constexpr std::int64_t most = std::int64_t{1} << 40;
    constexpr std::int64_t chunk = std::int64_t{1} << 24; // a wrong header makes no huge allocation
    Reader in(path);
    IdxArray array{read_sizes(in), {}};
    std::int64_t total = 1;
    for (const std::int64_t size : array.sizes) {
        if (size != 0 && total > most / size)
            in.fail("is no IDX file: its header claims more than 2^40 bytes");
        total *= size;
    }
    while (static_cast<std::int64_t>(array.bytes.size()) < total) {
        const std::size_t have = array.bytes.size();
        const auto wanted =
            static_cast<std::size_t>(std::min(total - static_cast<std::int64_t>(have), chunk));
        array.bytes.resize(have + wanted);
        const std::size_t got = in.read(array.bytes.data() + have, wanted);
        if (got < wanted)
            in.fail("is truncated: it has ", have + got, " of the ", total, " bytes that its header tells");
    }
    std::uint8_t beyond = 0;
    if (in.read(&beyond, 1) != 0)
        in.fail("is malformed: it is longer than the ", total, " bytes that its header tells");
    return array;
}

ImageDataset read_idx_images(const std::filesystem::path& images, const std::filesystem::path& labels)
{
    IdxArray pixels = read_idx(images);
    const IdxArray classes = read_idx(labels);
    if (pixels.sizes.size() != 3)
        detail::fail(ErrorKind::file, "read_idx", "The file (", images.string(), ") has ",
                     pixels.sizes.size(), " dimensions, but images have 3.");
    if (classes.sizes.size() != 1)
        detail::fail(ErrorKind::file, "read_idx", "The file (", labels.string(), ") has ",
                     classes.sizes.size(), " dimensions, but labels have 1.");
    if (pixels.sizes[0] != classes.sizes[0])
        detail::fail(ErrorKind::file, "read_idx", "The files (", images.string(), ") and (", labels.string(),
                     ") do not belong together: ", pixels.sizes[0], " images and ", classes.sizes[0],
                     " labels.");
    return {.channels = 1,
            .height = pixels.sizes[1],
            .width = pixels.sizes[2],
            .pixels = std::move(pixels.bytes),
            .labels = {classes.bytes.begin(), classes.bytes.end()}};
}

} // namespace reprise::data
