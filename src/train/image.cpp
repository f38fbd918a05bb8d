#include <reprise/train/image.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

// All functions are static: an application may compile the header, too.
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#if __has_include(<stb/stb_image_write.h>)
#include <stb/stb_image_write.h>
#else
#include <stb_image_write.h>
#endif

#include <reprise/device.hpp>
#include <reprise/error.hpp>
#include <reprise/whole_file.hpp>

namespace reprise::train {

using detail::fail;

namespace {

constexpr const char* op = "to_png";
constexpr std::int64_t columns_of_grid = 8, padding = 2, largest_side = 1 << 20, largest_bytes = 1 << 30;

// The sizes of n images, and of the picture that has all of them in rows.
struct Sizes {
    std::int64_t count, channels, height, width, gap, columns, rows;

    std::int64_t picture_height() const { return rows * (height + gap) + gap; }
    std::int64_t picture_width() const { return columns * (width + gap) + gap; }
    std::size_t picture_bytes() const
    {
        return static_cast<std::size_t>(picture_height() * picture_width() * channels);
    }
};

Sizes sizes_of(const Tensor& image)
{
    const std::int64_t rank = image.dim();
    const auto size = [&](std::int64_t from_end) {
        return rank < from_end ? 1 : image.size(-from_end).value();
    };
    Sizes s{size(4), size(3), size(2), size(1), 0, 0, 0};
    const auto fits = [](std::int64_t n) { return n >= 1 && n <= largest_side; };
    const bool has_channels = s.channels == 1 || s.channels == 3 || s.channels == 4;
    if (rank < 2 || rank > 4 || !has_channels || !fits(s.count) || !fits(s.height) || !fits(s.width))
        fail(ErrorKind::shape, op, "The shape (", to_string(image.shape()),
             ") must be [height, width], [channels, height, width] or [n, channels, height, width], with 1, "
             "3 or 4 "
             "channels and sizes from 1 to (",
             largest_side, "): where the channels come last, call permute() first.");
    s.gap = s.count > 1 ? padding : 0;
    s.columns = std::min(s.count, columns_of_grid);
    s.rows = (s.count + s.columns - 1) / s.columns;
    if (s.picture_height() >= largest_bytes / (s.picture_width() * s.channels))
        fail(ErrorKind::shape, op, "The picture of the shape (", to_string(image.shape()), ") would have (",
             largest_bytes, ") bytes or more.");
    return s;
}

std::vector<std::uint8_t> bytes_of(const Tensor& image)
{
    const Tensor here = image.detach().to(Device("reference"));
    if (here.dtype() == u8) return here.contiguous().to_vector<std::uint8_t>();
    std::vector<std::uint8_t> out;
    for (const float v : here.to(f32).to_vector<float>())
        out.push_back(v > 0 ? static_cast<std::uint8_t>(std::lround(255 * std::min(v, 1.0f))) : 0);
    return out;
}

// Returns the picture [height][width][channels].
std::vector<std::uint8_t> picture_of(const Tensor& image, const Sizes& s)
{
    const std::vector<std::uint8_t> elements = bytes_of(image); // [n][channels][height][width]
    std::vector<std::uint8_t> out(s.picture_bytes());
    std::size_t from = 0;
    for (std::int64_t i = 0; i < s.count; ++i)
        for (std::int64_t c = 0; c < s.channels; ++c)
            for (std::int64_t y = 0; y < s.height; ++y)
                for (std::int64_t x = 0; x < s.width; ++x) {
                    const std::int64_t row = i / s.columns * (s.height + s.gap) + s.gap + y,
                                       column = i % s.columns * (s.width + s.gap) + s.gap + x;
                    out[static_cast<std::size_t>((row * s.picture_width() + column) * s.channels + c)] =
                        elements[from++];
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
    if (!image.defined()) fail(ErrorKind::argument, op, "The image is undefined.");
    if (image.dtype() != u8 && !is_floating(image.dtype()))
        fail(ErrorKind::dtype, op, "The dtype (", name_of(image.dtype()), ") must be u8 or a floating one.");
    const Sizes s = sizes_of(image);
    const std::vector<std::uint8_t> picture = picture_of(image, s);
    const auto number = [](std::int64_t n) { return static_cast<int>(n); };
    std::string png;
    if (stbi_write_png_to_func(append, &png, number(s.picture_width()), number(s.picture_height()),
                               number(s.channels), picture.data(),
                               number(s.picture_width() * s.channels)) == 0)
        fail(ErrorKind::out_of_memory, op, "There is not enough memory to compress the picture.");
    return png;
}

void save_png(const std::filesystem::path& path, const Tensor& image)
{
    WholeFile file(path);
    file.write(to_png(image));
    file.commit();
}

} // namespace reprise::train
