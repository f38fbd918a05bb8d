#include <algorithm>
#include <cstring>

#include <reprise/data/transforms.hpp>

#include "data/standardized.hpp"

namespace reprise::data::transforms {

using detail::fail;

namespace {

struct Image {
    std::int64_t channels, height, width;
};

Image image_of(const char* op, const Array& data)
{
    if (data.sizes().size() != 3)
        fail(ErrorKind::argument, op, "The example's data has (", data.sizes().size(),
             ") dimensions, but an image has 3: [channels, height, width].");
    return {data.sizes()[0], data.sizes()[1], data.sizes()[2]};
}

} // namespace

Example<> ToFloat::operator()(Example<> e) const
{
    if (e.data.defined() && e.data.dtype() == f32) return e;
    const auto from = e.data.values<std::uint8_t>();
    Array to(f32, e.data.sizes());
    std::transform(from.begin(), from.end(), to.values<float>().begin(),
                   [](std::uint8_t v) { return static_cast<float>(v) / 255; });
    e.data = std::move(to);
    return e;
}

NormalizeImages::NormalizeImages(std::vector<double> mean, std::vector<double> std)
    : mean_(std::move(mean)), std_(std::move(std))
{
    if (mean_.empty() || std_.empty() || !std::all_of(mean_.begin(), mean_.end(), Standardized::is_mean) ||
        !std::all_of(std_.begin(), std_.end(), Standardized::is_std))
        fail(ErrorKind::argument, "Normalize",
             "The mean and the std must be finite numbers, the std above 0, at least one of each.");
}

Example<> NormalizeImages::operator()(Example<> e) const
{
    const Image image = image_of("Normalize", e.data);
    if (e.data.dtype() != f32)
        fail(ErrorKind::argument, "Normalize", "The example's data is ", name_of(e.data.dtype()),
             ", but it must be f32: put ToFloat before.");
    const auto channels = static_cast<std::size_t>(image.channels);
    for (const std::size_t count : {mean_.size(), std_.size()})
        if (count != 1 && count != channels)
            fail(ErrorKind::argument, "Normalize", "The mean and the std have (", mean_.size(), " and ",
                 std_.size(), ") numbers, but must have 1 or one for each of the (", channels, ") channels.");
    float* at = e.data.values<float>().data();
    for (std::size_t c = 0; c < channels; ++c) {
        float* const end = at + image.height * image.width;
        at = std::transform(at, end, at, Standardized(mean_, std_, c));
    }
    return e;
}

RandomHorizontalFlip::RandomHorizontalFlip(double p) : p_(p)
{
    if (!(p >= 0 && p <= 1))
        fail(ErrorKind::argument, "RandomHorizontalFlip", "The probability (", p, ") must be from 0 to 1.");
}

Example<> RandomHorizontalFlip::operator()(Example<> e, Random& random) const
{
    const Image image = image_of("RandomHorizontalFlip", e.data);
    if (random.uniform() >= p_) return e;
    const std::size_t size = size_of(e.data.dtype()), width = static_cast<std::size_t>(image.width);
    std::byte* row = e.data.bytes().data();
    for (std::int64_t i = 0; i < image.channels * image.height; ++i, row += width * size)
        for (std::size_t x = 0; x < width / 2; ++x)
            std::swap_ranges(row + x * size, row + (x + 1) * size, row + (width - 1 - x) * size);
    return e;
}

RandomCrop::RandomCrop(std::int64_t height, std::int64_t width, std::int64_t padding)
    : height_(height), width_(width), padding_(padding)
{
    constexpr std::int64_t max_size = std::int64_t{1} << 30;
    for (const std::int64_t n : {height, width, padding})
        if (n < 0 || n > max_size)
            fail(ErrorKind::argument, "RandomCrop", "The sizes and the padding (", height, ", ", width, ", ",
                 padding, ") must be from 0 to 2^30.");
}

Example<> RandomCrop::operator()(Example<> e, Random& random) const
{
    const Image image = image_of("RandomCrop", e.data);
    const std::int64_t down = image.height + 2 * padding_ - height_,
                       right = image.width + 2 * padding_ - width_;
    if (down < 0 || right < 0)
        fail(ErrorKind::argument, "RandomCrop", "The image of ", image.height, " x ", image.width, " with (",
             padding_, ") zeros around it is smaller than ", height_, " x ", width_, ".");
    const auto draw_offset = [&](std::int64_t last) {
        return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(last) + 1)) - padding_;
    };
    const std::int64_t top = draw_offset(down), left = draw_offset(right);
    const auto size = static_cast<std::int64_t>(size_of(e.data.dtype()));
    Array out(e.data.dtype(), {image.channels, height_, width_});
    // The columns of the window that lie in the image: the index of the first, and their number.
    const std::int64_t first = std::max<std::int64_t>(0, -left),
                       count = std::min(width_, image.width - left) - first;
    for (std::int64_t c = 0; c < image.channels && count > 0; ++c)
        for (std::int64_t y = 0; y < height_; ++y) {
            const std::int64_t from = top + y;
            if (from < 0 || from >= image.height) continue;
            std::memcpy(out.bytes().data() + ((c * height_ + y) * width_ + first) * size,
                        e.data.bytes().data() +
                            ((c * image.height + from) * image.width + left + first) * size,
                        static_cast<std::size_t>(count * size));
        }
    e.data = std::move(out);
    return e;
}

} // namespace reprise::data::transforms
