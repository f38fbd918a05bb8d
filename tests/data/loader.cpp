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

// The labels of what is left of the loader's epochs, up to and without epoch `end`.
std::vector<std::vector<int>> rest(DataLoader& loader, std::uint64_t end)
{
    std::vector<std::vector<int>> out;
    while (loader.next_epoch() < end)
        for (const auto& [x, y] : loader) out.push_back(y.to_vector<std::int32_t>());
    return out;
}

TEST(DataLoader, GoesOnFromAnyPlace)
{
    for (const std::size_t workers : {0, 1, 3})
        for (const bool drop_last : {false, true}) {
            const DataLoader::Options options{
                .batch_size = 2, .shuffle = true, .drop_last = drop_last, .num_workers = workers};
            DataLoader straight(dataset(7), options);
            const auto all = labels(straight.epoch(0)), second = labels(straight.epoch(1));
            for (std::int64_t given = 0; given <= straight.size(); ++given) {
                DataLoader first = straight;
                first.set_epoch(0);
                std::map<std::string, Tensor> state = first.state_dict();
                std::int64_t left = given;
                for (auto it = first.begin(); left > 0; ++it) {
                    *it;
                    state = first.state_dict(); // within the loop
                    if (--left == 0) break;
                }
                DataLoader other(dataset(7), options); // of another seed
                other.load_state_dict(state);
                EXPECT_EQ(other.next_epoch(), 0u);
                std::vector<std::vector<int>> want(all.begin() + given, all.end());
                want.insert(want.end(), second.begin(), second.end());
                EXPECT_EQ(rest(other, 2), want) << workers << drop_last << given;
                EXPECT_EQ(other.state_dict().at("epoch").item<std::int64_t>(), 2);
                // an epoch by its number has all batches, and no effect on the place
                other.load_state_dict(state);
                EXPECT_EQ(labels(other.epoch(0)), all);
                other.set_epoch(0); // as in a loop over numbers of epochs
                EXPECT_EQ(rest(other, 2), want);
                other.load_state_dict(state);
                other.set_epoch(1);
                EXPECT_EQ(rest(other, 2), second);
            }
        }
}

TEST(DataLoader, TellsItsPlace)
{
    using Place = std::pair<std::int64_t, std::int64_t>; // the epoch and the batch
    DataLoader loader(dataset(5), {.batch_size = 2, .seed = ~std::uint64_t{0}});
    const auto place = [](const DataLoader& l) {
        const auto state = l.state_dict();
        return Place(state.at("epoch").item<std::int64_t>(), state.at("batch").item<std::int64_t>());
    };
    EXPECT_EQ(place(loader), Place(0, 0));
    auto it = loader.begin();
    EXPECT_EQ(place(loader), Place(0, 0)); // none was given out
    *it;
    EXPECT_EQ(place(loader), Place(0, 1));
    ++it;
    ++it; // without a look at the second
    EXPECT_EQ(place(loader), Place(0, 2));
    *it;
    EXPECT_EQ(place(loader), Place(0, 3));
    *loader.epoch(7).begin(); // has no effect
    EXPECT_EQ(place(loader), Place(0, 3));
    auto second = loader.begin(); // the latest loop counts
    ++it;
    EXPECT_EQ(place(loader), Place(1, 0));
    *second;
    EXPECT_EQ(place(loader), Place(1, 1));
    loader.set_epoch(9);
    EXPECT_EQ(place(loader), Place(9, 0));
    EXPECT_EQ(loader.state_dict().at("seed").item<std::int64_t>(), -1);
    {
        auto moved = std::make_unique<DataLoader>(dataset(5), 2);
        auto outlives = moved->begin();
        moved.reset();
        ++outlives;
        EXPECT_EQ((*outlives).target.to_vector<std::int32_t>(), (std::vector{2, 3}));
    }
    DataLoader none(dataset(0), 2);
    EXPECT_TRUE(none.begin() == none.end());
    EXPECT_EQ(place(none), Place(1, 0));
}

TEST(DataLoader, RefusesAnotherState)
{
    DataLoader loader(dataset(5), {.batch_size = 2}), fine(dataset(5), {.batch_size = 1});
    auto it = fine.begin();
    for (int i = 0; i < 4; ++i, ++it) *it;
    const auto refused = [&](const std::map<std::string, Tensor>& state) {
        const auto before = loader.state_dict();
        const Caught caught = error_of([&] { return loader.load_state_dict(state), 0; });
        EXPECT_EQ(caught.kind, ErrorKind::argument);
        EXPECT_EQ(loader.state_dict().at("seed").item<std::int64_t>(),
                  before.at("seed").item<std::int64_t>());
        return caught.text;
    };
    EXPECT_THAT(refused(fine.state_dict()),
                HasSubstr("after (4) batches of (1) of (5) examples, but this DataLoader has (3)"));
    EXPECT_THAT(refused({}), HasSubstr("The entry (seed)"));
    auto state = loader.state_dict();
    state["batch"] = ones({2});
    EXPECT_THAT(refused(state), HasSubstr("The entry (batch)"));
    state = loader.state_dict();
    state["more"] = ones({});
    EXPECT_THAT(refused(state), HasSubstr("has (6) entries"));
}

} // namespace
