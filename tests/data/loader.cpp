// Batches of a data set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using data::DataLoader;
using data::ImageDataset;
using testing::ElementsAre;
using testing::HasSubstr;

// Image i is of pixels 3 i, 3 i + 1, ...; its label is i.
ImageDataset dataset(int count, std::int64_t channels = 1)
{
    ImageDataset d{channels, 1, 3, {}, {}};
    for (int i = 0; i < count; ++i) d.labels.push_back(i);
    d.pixels.resize(static_cast<std::size_t>(count * channels * 3));
    std::iota(d.pixels.begin(), d.pixels.end(), std::uint8_t{0});
    return d;
}

std::vector<std::vector<int>> labels(const DataLoader::Epoch& epoch)
{
    std::vector<std::vector<int>> out;
    for (const auto& [x, y] : epoch) out.push_back(y.to_vector<std::int32_t>());
    return out;
}

TEST(DataLoader, KeepsTheLastSmallerBatch)
{
    const DataLoader loader(dataset(5), {.batch_size = 2});
    EXPECT_EQ(loader.size(), 3);
    EXPECT_THAT(labels(loader.epoch(0)), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
}

TEST(DataLoader, OrDropsIt)
{
    const DataLoader loader(dataset(5), {.batch_size = 2, .drop_last = true});
    EXPECT_EQ(loader.size(), 2);
    EXPECT_THAT(labels(loader.epoch(0)), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
    EXPECT_TRUE(labels(DataLoader(dataset(1), {.batch_size = 2, .drop_last = true}).epoch(0)).empty());
}

TEST(DataLoader, GivesNormalisedImages)
{
    const DataLoader loader(dataset(2), {.batch_size = 2, .mean = {0.5}, .std = {0.25}});
    const auto [x, y] = *loader.epoch(0).begin();
    EXPECT_EQ(x.shape(), (Shape{2, 1, 1, 3}));
    EXPECT_EQ(x.dtype(), f32);
    EXPECT_EQ(y.shape(), (Shape{2}));
    EXPECT_EQ(y.dtype(), i32);
    const auto values = x.to_vector<float>();
    for (std::size_t i = 0; i < 6; ++i)
        EXPECT_EQ(values[i], static_cast<float>((static_cast<double>(i) / 255 - 0.5) / 0.25));
}

TEST(DataLoader, NormalisesEachChannel)
{
    const DataLoader loader(dataset(1, 2), {.batch_size = 1, .mean = {0, 1}, .std = {1, 2}});
    const auto values = (*loader.epoch(0).begin()).data.to_vector<float>();
    EXPECT_FLOAT_EQ(values[2], 2 / 255.0f);
    EXPECT_FLOAT_EQ(values[3], (3 / 255.0f - 1) / 2);
}

TEST(DataLoader, ShufflesEachEpochAnewAndTheSameWithOneSeed)
{
    const data::DataLoader::Options options{.batch_size = 7, .shuffle = true, .seed = 3};
    const DataLoader a(dataset(50), options), b(dataset(50), options);
    EXPECT_EQ(labels(a.epoch(4)), labels(b.epoch(4)));
    EXPECT_NE(labels(a.epoch(4)), labels(a.epoch(5)));
    EXPECT_EQ(labels(a.epoch(4)), labels(a.epoch(4)));
    std::vector<int> all;
    for (const auto& batch : labels(a.epoch(1))) all.insert(all.end(), batch.begin(), batch.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, dataset(50).labels);
}

TEST(DataLoader, ImagesStayWithTheirLabels)
{
    const DataLoader loader(dataset(40), {.batch_size = 8, .shuffle = true, .seed = 1});
    for (const auto& [x, y] : loader.epoch(0)) {
        const auto pixels = x.to_vector<float>();
        const auto classes = y.to_vector<std::int32_t>();
        for (std::size_t i = 0; i < classes.size(); ++i)
            EXPECT_EQ(std::lround(pixels[3 * i] * 255), 3 * classes[i]);
    }
}

TEST(DataLoader, ALoopIsTheNextEpoch)
{
    DataLoader loader(dataset(20), {.batch_size = 20, .shuffle = true});
    const auto one_loop = [&] {
        std::vector<int> out;
        for (auto [x, y] : loader) out = y.to_vector<std::int32_t>();
        return out;
    };
    EXPECT_EQ(one_loop(), labels(loader.epoch(0))[0]);
    EXPECT_EQ(one_loop(), labels(loader.epoch(1))[0]);
    loader.set_epoch(0);
    EXPECT_EQ(one_loop(), labels(loader.epoch(0))[0]);
}

TEST(DataLoader, MayBeEmpty)
{
    const DataLoader loader(dataset(0), {.batch_size = 4, .shuffle = true});
    EXPECT_EQ(loader.size(), 0);
    EXPECT_TRUE(labels(loader.epoch(0)).empty());
}

TEST(DataLoader, MakesBatchesOnAGivenDevice)
{
    const Device reference("reference");
    const DataLoader loader(dataset(2), {.batch_size = 2, .device = reference});
    const auto [x, y] = *loader.epoch(0).begin();
    EXPECT_EQ(x.device(), reference);
    EXPECT_EQ(y.device(), reference);
}

TEST(DataLoader, RefusesWhatMakesNoSense)
{
    const auto refused = [](ImageDataset d, data::DataLoader::Options o) {
        const Caught caught = error_of([&] { DataLoader(std::move(d), std::move(o)); });
        EXPECT_EQ(caught.kind, ErrorKind::argument);
        return caught.text;
    };
    EXPECT_THAT(refused(dataset(2), {.batch_size = 0}), HasSubstr("batch_size (0)"));
    EXPECT_THAT(refused(dataset(2), {.mean = {1, 2}}), HasSubstr("not 2"));
    EXPECT_THAT(refused(dataset(2), {.std = {}}), HasSubstr("not 0"));
    EXPECT_THAT(refused(dataset(2), {.std = {0}}), HasSubstr("std (0)"));
    EXPECT_THAT(refused(dataset(2), {.mean = {std::nan("")}}), HasSubstr("finite"));
    ImageDataset broken = dataset(2);
    broken.pixels.pop_back();
    EXPECT_THAT(refused(broken, {}), HasSubstr("5 pixels"));
    EXPECT_EQ(error_of([] { DataLoader(std::shared_ptr<const ImageDataset>(), {}); }).kind,
              ErrorKind::argument);
}

} // namespace
