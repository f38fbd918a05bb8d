#include <reprise/train/image.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

// All functions are static: an application may compile the header, too.
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

#include <reprise/device.hpp>
#include <reprise/error.hpp>
#include <reprise/whole_file.hpp>

namespace reprise::train {

using detail::fail;

namespace {

constexpr const char* op = "to_png";
constexpr std::int64_t columns_of_grid = 8, padding = 2, largest_side = 1 << 20;

// The elements of an image as [images][channels][height][width].
struct Images {
    std::int64_t count, channels, height, width;
    std::vector<std::uint8_t> elements;

    std::uint8_t at(std::int64_t i, std::int64_t c, std::int64_t y, std::int64_t x) const
    {
        return elements[static_cast<std::size_t>(((i * channels + c) * height + y) * width + x)];
    }
};

std::vector<std::uint8_t> bytes_of(const Tensor& image)
{
    const Tensor here = image.detach().to(Device("reference"));
    if (here.dtype() == u8) return here.contiguous().to_vector<std::uint8_t>();
    if (!is_floating(here.dtype()))
        fail(ErrorKind::dtype, op, "The dtype (", name_of(here.dtype()), ") must be u8 or a floating one.");
    std::vector<std::uint8_t> out;
    for (const float v : here.to(f32).to_vector<float>())
        out.push_back(v > 0 ? static_cast<std::uint8_t>(std::lround(255 * std::min(v, 1.0f))) : 0);
    return out;
}

Images images_of(const Tensor& image)
{
    if (!image.defined()) fail(ErrorKind::argument, op, "The image is undefined.");
    const std::int64_t rank = image.dim();
    const auto size = [&](std::int64_t from_end) {
        return rank < from_end ? 1 : image.size(-from_end).value();
    };
    Images out{size(4), size(3), size(2), rank < 1 ? 1 : size(1), {}};
    if (rank < 2 || rank > 4 || (out.channels != 1 && out.channels != 3 && out.channels != 4) ||
        out.count < 1 || out.height < 1 || out.width < 1 ||
        std::max({out.count, out.height, out.width}) > largest_side)
        fail(ErrorKind::shape, op, "The shape (", to_string(image.shape()),
             ") must be [height, width], [channels, height, width] or [n, channels, height, width] with 1, 3 "
             "or 4 "
             "channels and sizes from 1 to ",
             largest_side, ".");
    out.elements = bytes_of(image);
    return out;
}

// One picture, [height][width][channels].
struct Picture {
    std::int64_t height, width, channels;
    std::vector<std::uint8_t> bytes;
};

// Several images lie in rows, with padding around each.
Picture picture_of(const Images& images)
{
    const std::int64_t columns = std::min(images.count, columns_of_grid),
                       rows = (images.count + columns - 1) / columns, gap = images.count > 1 ? padding : 0;
    Picture out{
        rows * (images.height + gap) + gap, columns * (images.width + gap) + gap, images.channels, {}};
    out.bytes.resize(static_cast<std::size_t>(out.height * out.width * out.channels));
    for (std::int64_t i = 0; i < images.count; ++i)
        for (std::int64_t y = 0; y < images.height; ++y)
            for (std::int64_t x = 0; x < images.width; ++x)
                for (std::int64_t c = 0; c < images.channels; ++c) {
                    const std::int64_t row = i / columns * (images.height + gap) + gap + y,
                                       column = i % columns * (images.width + gap) + gap + x;
                    out.bytes[static_cast<std::size_t>((row * out.width + column) * out.channels + c)] =
                        images.at(i, c, y, x);
                }
    return out;
}

void append(void* out, void* data, int bytes)
{
    static_cast<std::string*>(out)->append(static_cast<const char*>(data), static_cast<std::size_t>(bytes));
}

} // namespace

std::string to_png(const Tensor& image)
{
    const Picture p = picture_of(images_of(image));
    if (p.bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max() / 2))
        fail(ErrorKind::shape, op, "The picture of ", p.bytes.size(), " bytes is too large for a PNG here.");
    std::string png;
    const int done = stbi_write_png_to_func(append, &png, static_cast<int>(p.width),
                                            static_cast<int>(p.height), static_cast<int>(p.channels),
                                            p.bytes.data(), static_cast<int>(p.width * p.channels));
    if (done == 0) fail(ErrorKind::out_of_memory, op, "There is not enough memory to compress the picture.");
    return png;
}

void save_png(const std::filesystem::path& path, const Tensor& image)
{
    WholeFile file(path);
    file.write(to_png(image));
    file.commit();
}

} // namespace reprise::train
