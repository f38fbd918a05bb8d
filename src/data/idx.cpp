#include <algorithm>
#include <array>

#include <reprise/data/dataset.hpp>
#include <reprise/path_text.hpp>

#include "data/reader.hpp"

namespace reprise::data {

namespace {

// Reads the header: 4 bytes with 0, 0, element type and number of dimensions, then each size as a big-endian u32.
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
    constexpr std::int64_t max_bytes = std::int64_t{1} << 40;
    constexpr std::int64_t chunk = std::int64_t{1} << 24; // so that a wrong header causes no huge allocation
    Reader in("read_idx", path);
    IdxArray array{read_sizes(in), {}};
    std::int64_t total = 1;
    for (const std::int64_t size : array.sizes) {
        if (size != 0 && total > max_bytes / size)
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
        detail::fail(ErrorKind::file, "read_idx", "The file (", path_text(images), ") has ",
                     pixels.sizes.size(), " dimensions, but images have 3.");
    if (classes.sizes.size() != 1)
        detail::fail(ErrorKind::file, "read_idx", "The file (", path_text(labels), ") has ",
                     classes.sizes.size(), " dimensions, but labels have 1.");
    if (pixels.sizes[0] != classes.sizes[0])
        detail::fail(ErrorKind::file, "read_idx", "The files (", path_text(images), ") and (",
                     path_text(labels), ") do not belong together: ", pixels.sizes[0], " images and ",
                     classes.sizes[0], " labels.");
    return {.channels = 1,
            .height = pixels.sizes[1],
            .width = pixels.sizes[2],
            .pixels = std::move(pixels.bytes),
            .labels = {classes.bytes.begin(), classes.bytes.end()}};
}

} // namespace reprise::data
