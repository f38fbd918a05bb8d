#include <algorithm>

#include <reprise/data/loader.hpp>

#include "data/standardized.hpp"

namespace reprise::data {

using detail::fail;

namespace {

constexpr std::size_t pixel_values = 256;

// Returns [C, 256]: the normalised value of each pixel value, for each channel.
std::vector<float> value_table(std::int64_t channels, const DataLoaderSettings& options)
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
        const Standardized standardized(options.mean, options.std, c);
        if (!Standardized::is_mean(standardized.mean) || !Standardized::is_std(standardized.std))
            fail(ErrorKind::argument, "DataLoader", "The mean (", standardized.mean, ") and the std (",
                 standardized.std, ") must be finite numbers, the std above 0.");
        for (std::size_t v = 0; v < pixel_values; ++v)
            table.push_back(standardized(static_cast<double>(v) / 255));
    }
    return table;
}

// Writes images directly into the batch, without an Example for each.
class Images final : public BatchSource {
public:
    Images(std::shared_ptr<const ImageDataset> dataset, const DataLoaderSettings& options)
        : dataset_(std::move(dataset)), value_of_(value_table(dataset_->channels, options))
    {}
    std::int64_t size() const override { return dataset_->size(); }
    Example<> batch(std::span<const Pick> picks) const override
    {
        const ImageDataset& d = *dataset_;
        const std::int64_t count = static_cast<std::int64_t>(picks.size()), plane = d.height * d.width;
        Example<> out{Array(f32, {count, d.channels, d.height, d.width}), Array(i32, {count})};
        float* to = out.data.values<float>().data();
        std::int32_t* label = out.target.values<std::int32_t>().data();
        for (const Pick& pick : picks) {
            *label++ = d.labels[static_cast<std::size_t>(pick.index)];
            const std::uint8_t* from = d.pixels.data() + pick.index * d.channels * plane;
            for (std::int64_t c = 0; c < d.channels; ++c, from += plane, to += plane) {
                const float* table = value_of_.data() + c * static_cast<std::int64_t>(pixel_values);
                std::transform(from, from + plane, to, [table](std::uint8_t v) { return table[v]; });
            }
        }
        return out;
    }

private:
    std::shared_ptr<const ImageDataset> dataset_;
    std::vector<float> value_of_;
};

} // namespace

ImageDataset ImageDataset::first(std::int64_t count) const
{
    if (count < 0) fail(ErrorKind::argument, "first", "The count (", count, ") must be at least 0.");
    const std::int64_t taken = std::min(count, size());
    ImageDataset out{channels, height, width, {}, {}};
    const std::int64_t values =
        size() > 0 ? static_cast<std::int64_t>(pixels.size()) / size() : 0; // per image
    out.pixels.assign(pixels.begin(), pixels.begin() + taken * values);
    out.labels.assign(labels.begin(), labels.begin() + taken);
    return out;
}

Example<> ImageDataset::get(std::size_t i) const
{
    const auto values = static_cast<std::size_t>(channels * height * width);
    if (i >= labels.size() || (i + 1) * values > pixels.size())
        fail(ErrorKind::argument, "get", "The data set has no image (", i, ") of its ", size(), ".");
    Array image(f32, {channels, height, width});
    std::transform(pixels.data() + i * values, pixels.data() + (i + 1) * values, image.values<float>().data(),
                   [](std::uint8_t v) { return static_cast<float>(v) / 255; });
    return {std::move(image), labels[i]};
}

std::shared_ptr<const BatchSource> DataLoader::source_of_images(std::shared_ptr<const ImageDataset> dataset,
                                                                const DataLoaderSettings& options)
{
    if (!dataset) fail(ErrorKind::argument, "DataLoader", "The data set is a null pointer.");
    const ImageDataset& d = *dataset;
    if (d.channels < 1 || d.height < 0 || d.width < 0)
        fail(ErrorKind::argument, "DataLoader", "The images' sizes (", d.channels, " x ", d.height, " x ",
             d.width, ") are impossible.");
    if (static_cast<std::int64_t>(d.pixels.size()) != d.size() * d.channels * d.height * d.width)
        fail(ErrorKind::argument, "DataLoader", "The data set has ", d.labels.size(), " labels, but its ",
             d.pixels.size(), " pixels are not as many images of ", d.channels, " x ", d.height, " x ",
             d.width, ".");
    if (options.collate)
        fail(ErrorKind::argument, "DataLoader",
             "A loader of an ImageDataset collates by itself: give it dataset.map(transform) for a collate "
             "of yours.");
    return std::make_shared<const Images>(std::move(dataset), options);
}

} // namespace reprise::data
