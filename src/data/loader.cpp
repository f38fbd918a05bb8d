#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <reprise/data.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/reductions.hpp>

namespace reprise::data {

using detail::fail;

namespace {

constexpr std::size_t pixel_values = 256;

// [C, 256]
std::vector<float> value_table(std::int64_t channels, const DataLoaderOptions& options)
{
    const auto count = static_cast<std::size_t>(channels);
    for (const auto* list : {&options.mean, &options.std})
        if (list->size() != 1 && list->size() != count)
            fail(ErrorKind::argument, "DataLoader",
                 "The mean and the std must have 1 number or one for each of the ", channels,
                 " channels, not ", list->size(), ".");
    std::vector<float> table;
    table.reserve(count * pixel_values);
    for (std::size_t c = 0; c < count; ++c) {
        const double mean = options.mean[options.mean.size() == 1 ? 0 : c];
        const double std = options.std[options.std.size() == 1 ? 0 : c];
        if (!std::isfinite(mean) || !(std > 0) || std::isinf(std))
            fail(ErrorKind::argument, "DataLoader", "The mean (", mean, ") and the std (", std,
                 ") must be finite numbers, the std above 0.");
        for (std::size_t v = 0; v < pixel_values; ++v)
            table.push_back(static_cast<float>((static_cast<double>(v) / 255 - mean) / std));
    }
    return table;
}

} // namespace

ImageDataset ImageDataset::first(std::int64_t count) const
{
    if (count < 0) fail(ErrorKind::argument, "first", "The count (", count, ") must be at least 0.");
    const std::int64_t taken = std::min(count, size());
    ImageDataset out{channels, height, width, {}, {}};
    const std::int64_t values =
        size() > 0 ? static_cast<std::int64_t>(pixels.size()) / size() : 0; // of an image
    out.pixels.assign(pixels.begin(), pixels.begin() + taken * values);
    out.labels.assign(labels.begin(), labels.begin() + taken);
    return out;
}

DataLoader::DataLoader(ImageDataset dataset, DataLoaderOptions options)
    : DataLoader(std::make_shared<const ImageDataset>(std::move(dataset)), std::move(options))
{}

DataLoader::DataLoader(std::shared_ptr<const ImageDataset> dataset, DataLoaderOptions options)
    : dataset_(std::move(dataset)), options_(std::move(options))
{
    if (!dataset_) fail(ErrorKind::argument, "DataLoader", "The data set is a null pointer.");
    const ImageDataset& d = *dataset_;
    if (d.channels < 1 || d.height < 0 || d.width < 0)
        fail(ErrorKind::argument, "DataLoader", "The images' sizes (", d.channels, " x ", d.height, " x ",
             d.width, ") are impossible.");
    if (static_cast<std::int64_t>(d.pixels.size()) != d.size() * d.channels * d.height * d.width)
        fail(ErrorKind::argument, "DataLoader", "The data set has ", d.labels.size(), " labels, but its ",
             d.pixels.size(), " pixels are not as many images of ", d.channels, " x ", d.height, " x ",
             d.width, ".");
    if (options_.batch_size < 1)
        fail(ErrorKind::argument, "DataLoader", "The batch_size (", options_.batch_size,
             ") must be at least 1.");
    value_of_ = value_table(d.channels, options_);
}

std::int64_t DataLoader::size() const noexcept
{
    const std::int64_t whole = dataset_->size() / options_.batch_size;
    const bool rest = dataset_->size() % options_.batch_size != 0;
    return whole + (rest && !options_.drop_last ? 1 : 0);
}

DataLoader::Epoch DataLoader::epoch(std::uint64_t number) const
{
    std::vector<std::int64_t> order;
    if (options_.shuffle) {
        order = shuffled(dataset_->size(), options_.seed, number);
    } else {
        order.resize(dataset_->labels.size());
        std::iota(order.begin(), order.end(), std::int64_t{0});
    }
    return Epoch(Iterator(this, std::make_shared<const std::vector<std::int64_t>>(std::move(order))));
}

DataLoader::Batch DataLoader::batch(const std::vector<std::int64_t>& order, std::int64_t index) const
{
    const ImageDataset& d = *dataset_;
    const std::int64_t begin = index * options_.batch_size;
    const std::int64_t count = std::min(options_.batch_size, d.size() - begin);
    const std::int64_t plane = d.height * d.width;
    std::vector<float> x(static_cast<std::size_t>(count * d.channels * plane));
    std::vector<std::int32_t> y(static_cast<std::size_t>(count));
    float* to = x.data();
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t image = order[static_cast<std::size_t>(begin + i)];
        y[static_cast<std::size_t>(i)] = d.labels[static_cast<std::size_t>(image)];
        const std::uint8_t* from = d.pixels.data() + image * d.channels * plane;
        for (std::int64_t c = 0; c < d.channels; ++c, from += plane, to += plane) {
            const float* table = value_of_.data() + c * static_cast<std::int64_t>(pixel_values);
            std::transform(from, from + plane, to, [table](std::uint8_t v) { return table[v]; });
        }
    }
    TensorOptions options{.device = options_.device};
    return {from_vector(x, {count, d.channels, d.height, d.width}, options),
            from_vector(y, {count}, options)};
}

} // namespace reprise::data
