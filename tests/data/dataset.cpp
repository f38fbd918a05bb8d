// Data sets of users, transforms, samplers and worker threads, as programs for libtorch write them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using data::Array;
using data::DataLoader;
using data::Example;
using data::Random;
using testing::ElementsAre;
using testing::HasSubstr;
namespace samplers = data::samplers;
namespace transforms = data::transforms;

// Example i is (i, i + 0.5), -i.
struct Numbers : data::Dataset<Numbers> {
    explicit Numbers(std::size_t n) : count(n) {}
    Example<> get(std::size_t i) override
    {
        const auto x = static_cast<float>(i);
        return {std::vector<float>{x, x + 0.5F}, -static_cast<int>(i)};
    }
    std::optional<std::size_t> size() const override { return count; }
    std::size_t count;
};

template <class Loader> std::vector<std::vector<int>> targets(Loader&& epoch)
{
    std::vector<std::vector<int>> out;
    for (auto& batch : epoch) out.push_back(batch.target.template to_vector<std::int32_t>());
    return out;
}

template <class Loader> std::vector<std::vector<float>> values(Loader&& epoch)
{
    std::vector<std::vector<float>> out;
    for (auto& batch : epoch) out.push_back(batch.data.template to_vector<float>());
    return out;
}

TEST(Dataset, OfAUserIsBatched)
{
    DataLoader loader(Numbers(5), {.batch_size = 2});
    EXPECT_EQ(loader.size(), 3);
    EXPECT_EQ(loader.dataset().size(), 5);
    std::vector<Shape> shapes;
    for (auto [x, y] : loader) {
        EXPECT_EQ(x.dtype(), f32);
        EXPECT_EQ(y.dtype(), i32);
        EXPECT_EQ(y.dim(), 1);
        shapes.push_back(x.shape());
    }
    EXPECT_EQ(shapes, (std::vector<Shape>{{2, 2}, {2, 2}, {1, 2}}));
    EXPECT_THAT(values(loader.epoch(0)), ElementsAre(ElementsAre(0, 0.5F, 1, 1.5F),
                                                     ElementsAre(2, 2.5F, 3, 3.5F), ElementsAre(4, 4.5F)));
    EXPECT_THAT(targets(loader.epoch(0)),
                ElementsAre(ElementsAre(0, -1), ElementsAre(-2, -3), ElementsAre(-4)));
}

TEST(Dataset, IsWrittenAsForLibtorch)
{
    auto set = Numbers(6).map(data::transforms::Stack<>());
    auto loader = data::make_data_loader<samplers::SequentialSampler>(std::move(set), 4);
    EXPECT_THAT(targets(*loader), ElementsAre(ElementsAre(0, -1, -2, -3), ElementsAre(-4, -5)));
    auto shuffled = data::make_data_loader(Numbers(6), {.batch_size = 3, .shuffle = true, .num_workers = 1});
    EXPECT_EQ(targets(*shuffled).size(), 2U);
}

// No base class, a size that is a plain number, a get() that is const and returns tensors.
struct Plain {
    std::vector<Tensor> inputs;
    Example<> get(std::size_t i) const { return {inputs[i], 2.5}; }
    int size() const { return static_cast<int>(inputs.size()); }
};

TEST(Dataset, MayHoldTensors)
{
    const Plain set{{full({3}, 1), full({3}, 2), full({3}, 3)}};
    DataLoader loader(set, {.batch_size = 3});
    const auto [x, y] = *loader.begin();
    EXPECT_THAT(x.to_vector<float>(), ElementsAre(1, 1, 1, 2, 2, 2, 3, 3, 3));
    EXPECT_THAT(y.to_vector<float>(), ElementsAre(2.5F, 2.5F, 2.5F));
}

TEST(TensorDataset, GivesRowsWithAndWithoutTargets)
{
    const Tensor x = arange(6).reshape({3, 2}), y = from_vector(std::vector<std::int32_t>{7, 8, 9}, {3});
    DataLoader both(data::TensorDataset(cast(x, f32), y), {.batch_size = 2});
    EXPECT_THAT(values(both), ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5)));
    EXPECT_THAT(targets(both), ElementsAre(ElementsAre(7, 8), ElementsAre(9)));
    DataLoader alone(data::TensorDataset(y), {.batch_size = 3});
    const auto [data, target] = *alone.begin();
    EXPECT_THAT(data.to_vector<std::int32_t>(), ElementsAre(7, 8, 9));
    EXPECT_FALSE(target.defined());
    EXPECT_EQ(DataLoader(data::TensorDataset(Array(f32, {0, 3})), {}).size(), 0);
    EXPECT_THAT(error_of([&] { return data::TensorDataset(x, Array(f32, {4})); }).text,
                HasSubstr("(3) examples, but the target (4)"));
    EXPECT_EQ(error_of([] { return data::TensorDataset(1.0F); }).kind, ErrorKind::argument);
}

TEST(Array, IsMadeOfNumbersVectorsAndTensors)
{
    EXPECT_EQ(Array(2.5).dtype(), f32);
    EXPECT_EQ(Array(3).dtype(), i32);
    EXPECT_EQ(Array(true).dtype(), boolean);
    EXPECT_EQ(Array(std::size_t{3}).dtype(), i64);
    EXPECT_EQ(Array(std::size_t{3}).values<std::int64_t>()[0], 3);
    EXPECT_EQ(Array(3).sizes().size(), 0U);
    EXPECT_EQ(Array(3).numel(), 1);
    EXPECT_EQ(Array().numel(), 0);
    EXPECT_FALSE(Array().to_tensor().defined());
    const Tensor halves = cast(from_vector({1.5F, -2.0F}), f16),
                 bools = cast(from_vector({1.0F, 0.0F}), boolean);
    EXPECT_THAT(Array(halves).values<float>(), ElementsAre(1.5F, -2.0F));
    EXPECT_THAT(Array(bools).to_tensor().to_vector<bool>(), ElementsAre(true, false));
    const Array a(std::vector<std::int16_t>{1, 2, 3, 4, 5, 6}, {2, 3});
    EXPECT_THAT(a.row(1).values<std::int16_t>(), ElementsAre(4, 5, 6));
    EXPECT_EQ(a.to_tensor().shape(), (Shape{2, 3}));
    EXPECT_THAT(error_of([&] { return a.row(2); }).text, HasSubstr("row (2)"));
    EXPECT_THAT(error_of([&] { return a.values<float>(); }).text, HasSubstr("dtype (i16)"));
    EXPECT_THAT(error_of([] { return Array(std::vector<float>{1}, {2}); }).text,
                HasSubstr("take 2 values, not (1)"));
    EXPECT_EQ(error_of([] { return Array(f32, {-1}); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([] { return Array(f32, {1LL << 40, 1LL << 40}); }).kind, ErrorKind::argument);
}

TEST(Stack, WantsExamplesThatAreAlike)
{
    const auto message = [](std::vector<Example<>> examples) {
        const Caught caught = error_of([&] { return data::stack(examples); });
        EXPECT_EQ(caught.kind, ErrorKind::argument);
        return caught.text;
    };
    const std::vector<float> two{1, 2}, three{1, 2, 3};
    EXPECT_THAT(message({{two, 1}, {three, 1}}),
                HasSubstr("data of example (1) of a batch is f32 [3], that of the first f32 [2]"));
    EXPECT_THAT(message({{two, 1}, {two, 1.0F}}), HasSubstr("target of example (1)"));
    EXPECT_THAT(message({{two, 1}, {two, Array()}}), HasSubstr("undefined"));
    EXPECT_THAT(message({}), HasSubstr("no example"));
}

TEST(Collate, ReplacesStack)
{
    const auto longest = [](const std::vector<Example<>>& examples) { // rows of 1, 2, 3 ... zeros behind
        Array x(f32, {static_cast<std::int64_t>(examples.size()), 3});
        for (std::size_t i = 0; i < examples.size(); ++i)
            std::ranges::copy(examples[i].data.values<float>(),
                              x.values<float>().begin() + static_cast<std::ptrdiff_t>(3 * i));
        return Example<>{x, {}};
    };
    struct Ragged {
        Example<> get(std::size_t i) const { return {std::vector<float>(i + 1, 1.0F), {}}; }
        std::size_t size() const { return 3; }
    };
    DataLoader loader(Ragged{}, {.batch_size = 3, .collate = longest});
    EXPECT_THAT(values(loader), ElementsAre(ElementsAre(1, 0, 0, 1, 1, 0, 1, 1, 1)));
    EXPECT_THAT(error_of([&] {
                    values(DataLoader(Ragged{}, {.batch_size = 3}).epoch(0));
                    return 0;
                }).text,
                HasSubstr("collate"));
}

// Image of [1, 2, 3]: 1 to 6.
struct OneImage {
    Example<> get(std::size_t) const
    {
        return {Array(std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6}, {1, 2, 3}), 0};
    }
    std::size_t size() const { return 64; }
};

TEST(Transforms, ConvertAndNormalise)
{
    const Example<> e = OneImage{}.get(0);
    EXPECT_FLOAT_EQ(transforms::ToFloat()(e).data.values<float>()[5], 6.0F / 255);
    const Example<> n = transforms::Normalize(0.5, 0.25)(transforms::ToFloat()(e));
    EXPECT_FLOAT_EQ(n.data.values<float>()[0], (1.0F / 255 - 0.5F) / 0.25F);
    const Array two(std::vector<float>{1, 1}, {2, 1, 1});
    EXPECT_THAT(transforms::Normalize({1, 2}, {1, 2})({two, {}}).data.values<float>(), ElementsAre(0, -0.5F));
    EXPECT_THAT(error_of([&] { return transforms::Normalize(0, 1)(e); }).text, HasSubstr("ToFloat"));
    EXPECT_EQ(error_of([&] {
                  return transforms::Normalize({1, 2, 3}, {1, 2, 3})({two, {}});
              }).kind,
              ErrorKind::argument);
    EXPECT_EQ(error_of([] { return transforms::Normalize(0, 0); }).kind, ErrorKind::argument);
    EXPECT_THAT(error_of([&] {
                    return transforms::Normalize(0, 1)({std::vector<float>{1}, {}});
                }).text,
                HasSubstr("(1) dimensions"));
    EXPECT_EQ(error_of([&] { return transforms::ToFloat()({3, {}}); }).kind, ErrorKind::argument);
}

TEST(Transforms, FlipSomeImages)
{
    Random random(1);
    const Example<> e = OneImage{}.get(0);
    EXPECT_THAT(transforms::RandomHorizontalFlip(1)(e, random).data.values<std::uint8_t>(),
                ElementsAre(3, 2, 1, 6, 5, 4));
    EXPECT_THAT(transforms::RandomHorizontalFlip(0)(e, random).data.values<std::uint8_t>(),
                ElementsAre(1, 2, 3, 4, 5, 6));
    int flipped = 0;
    for (int i = 0; i < 1000; ++i)
        flipped += transforms::RandomHorizontalFlip()(e, random).data.values<std::uint8_t>()[0] == 3;
    EXPECT_NEAR(flipped, 500, 80);
    EXPECT_EQ(error_of([] { return transforms::RandomHorizontalFlip(1.5); }).kind, ErrorKind::argument);
}

TEST(Transforms, CropWindowsOfThePaddedImage)
{
    Random random(2);
    const Example<> e = OneImage{}.get(0);
    EXPECT_THAT(transforms::RandomCrop(2, 3, 0)(e, random).data.values<std::uint8_t>(),
                ElementsAre(1, 2, 3, 4, 5, 6));
    std::map<std::vector<int>, int> seen;
    for (int i = 0; i < 4000; ++i) {
        const Array out = transforms::RandomCrop(1, 2, 1)(e, random).data;
        EXPECT_EQ(out.sizes(), (std::vector<std::int64_t>{1, 1, 2}));
        const auto v = out.values<std::uint8_t>();
        ++seen[{v[0], v[1]}];
    }
    // Padded rows: 0 0 0 0 0, 0 1 2 3 0, 0 4 5 6 0, 0 0 0 0 0: four windows each.
    EXPECT_EQ(seen.size(), 9U);
    EXPECT_NEAR(seen.at({0, 0}), 2000, 200);
    EXPECT_NEAR(seen.at({6, 0}), 250, 80);
    EXPECT_THAT(transforms::RandomCrop(4, 5, 1)(e, random).data.values<std::uint8_t>(),
                ElementsAre(0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0));
    EXPECT_THAT(error_of([&] { return transforms::RandomCrop(5)(e, random); }).text,
                HasSubstr("smaller than 5 x 5"));
    EXPECT_EQ(error_of([] { return transforms::RandomCrop(-1); }).kind, ErrorKind::argument);
}

TEST(Transforms, AreMappedOneBehindTheOther)
{
    const auto set = OneImage{};
    auto mapped = data::MapDataset{set, transforms::ToFloat()}
                      .map(transforms::Normalize(0, 1.0 / 255))
                      .map([](Example<> e) {
                          e.target = static_cast<int>(e.data.numel());
                          return e;
                      });
    EXPECT_EQ(mapped.size(), 64U);
    DataLoader loader(mapped, {.batch_size = 64});
    const auto [x, y] = *loader.begin();
    EXPECT_NEAR(x.to_vector<float>()[5], 6, 1e-5);
    EXPECT_EQ(y.to_vector<std::int32_t>(), std::vector<std::int32_t>(64, 6));
}

TEST(Transforms, OfImagesAgreeWithTheLoadersOptions)
{
    data::ImageDataset images{2, 1, 2, {0, 50, 100, 150, 200, 250, 255, 1}, {4, 5}};
    DataLoader direct(images, {.batch_size = 2, .mean = {0.5, 0.25}, .std = {0.5, 2}});
    DataLoader mapped(images.map(transforms::Normalize({0.5, 0.25}, {0.5, 2})), {.batch_size = 2});
    const auto a = values(direct)[0], b = values(mapped)[0];
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
    EXPECT_EQ(targets(direct), targets(mapped));
    EXPECT_EQ(error_of([&] { return images.get(2); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([&] { return DataLoader(images, {.collate = data::stack}); }).kind,
              ErrorKind::argument);
}

TEST(Samplers, DrawInProportionToWeights)
{
    const samplers::WeightedRandomSampler sampler({0, 1, 0, 3, 0}, 4000);
    std::vector<int> count(5);
    for (const std::int64_t i : sampler.order(5, 0, 0)) ++count[static_cast<std::size_t>(i)];
    EXPECT_EQ(count[0] + count[2] + count[4], 0);
    EXPECT_NEAR(count[1], 1000, 120);
    EXPECT_EQ(sampler.order(5, 7, 1), sampler.order(5, 7, 1));
    EXPECT_NE(sampler.order(5, 7, 1), sampler.order(5, 7, 2));
    EXPECT_NE(sampler.order(5, 7, 1), sampler.order(5, 8, 1));
    for (const std::vector<double>& wrong : {std::vector<double>{}, {0, 0}, {-1, 2}, {1e308, 1e308}})
        EXPECT_EQ(error_of([&] { return samplers::WeightedRandomSampler(wrong, 1); }).kind,
                  ErrorKind::argument);

    const auto shared = std::make_shared<const samplers::WeightedRandomSampler>(sampler);
    EXPECT_EQ(DataLoader(Numbers(5), {.batch_size = 1000, .sampler = shared}).size(), 4);
    EXPECT_THAT(error_of([&] { return DataLoader(Numbers(4), {.sampler = shared}); }).text,
                HasSubstr("(4) examples"));
    EXPECT_THAT(error_of([&] { return DataLoader(Numbers(5), {.shuffle = true, .sampler = shared}); }).text,
                HasSubstr("leave one out"));
}

// The ranks' batches together are those of one process.
TEST(Samplers, ShareOutExamplesAmongRanks)
{
    for (const std::int64_t ranks : {1, 2, 3, 5})
        for (const std::int64_t size : {1, 2, 7, 30})
            for (const bool shuffle : {false, true})
                for (const bool drop : {false, true}) {
                    const std::vector<std::int64_t> all =
                        shuffle ? data::shuffled(size, 4, 2)
                                : samplers::SequentialSampler().order(size, 4, 2);
                    for (std::int64_t rank = 0; rank < ranks; ++rank) {
                        const samplers::DistributedSampler sampler(ranks, rank,
                                                                   {.shuffle = shuffle, .drop_last = drop});
                        const std::vector<std::int64_t> mine = sampler.order(size, 4, 2);
                        ASSERT_EQ(sampler.count(size), drop ? size / ranks : (size + ranks - 1) / ranks);
                        ASSERT_EQ(std::ssize(mine), sampler.count(size));
                        for (std::size_t i = 0; i < mine.size(); ++i)
                            ASSERT_EQ(
                                mine[i],
                                all[(i * static_cast<std::size_t>(ranks) + static_cast<std::size_t>(rank)) %
                                    all.size()]);
                    }
                }
    EXPECT_EQ(error_of([] { samplers::DistributedSampler(2, 2); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([] { samplers::DistributedSampler(0, 0); }).kind, ErrorKind::argument);
}

TEST(Samplers, OfUsersAreChecked)
{
    struct Wrong : samplers::Sampler {
        std::vector<std::int64_t> list;
        std::vector<std::int64_t> order(std::int64_t, std::uint64_t, std::uint64_t) const override
        {
            return list;
        }
    };
    auto sampler = std::make_shared<Wrong>();
    DataLoader loader(Numbers(3), {.batch_size = 3, .sampler = sampler});
    sampler->list = {2, 0, 1};
    EXPECT_THAT(targets(loader), ElementsAre(ElementsAre(-2, 0, -1)));
    sampler->list = {2, 0, 3};
    EXPECT_THAT(error_of([&] { return loader.begin().operator->(); }).text, HasSubstr("index (3)"));
    sampler->list = {2};
    EXPECT_THAT(error_of([&] { return loader.begin().operator->(); }).text, HasSubstr("(1) indices"));
}

// Random transforms and the order are those of (seed, epoch), whatever the number of threads.
TEST(Workers, GiveTheSameBatchesInTheSameOrder)
{
    const auto loader = [](std::size_t workers, std::uint64_t seed, std::size_t prefetch = 2) {
        auto set = data::MapDataset{OneImage{}, transforms::RandomCrop(2, 3, 2)}
                       .map(transforms::RandomHorizontalFlip())
                       .map(transforms::ToFloat());
        return DataLoader(
            std::move(set),
            {.batch_size = 5, .shuffle = true, .seed = seed, .num_workers = workers, .prefetch = prefetch});
    };
    const auto want = values(loader(0, 1).epoch(3));
    EXPECT_EQ(want.size(), 13U);
    for (const std::size_t workers : {1, 2, 5, 40}) {
        EXPECT_EQ(values(loader(workers, 1).epoch(3)), want) << workers;
        EXPECT_EQ(values(loader(workers, 1, 1).epoch(3)), want) << workers;
    }
    EXPECT_NE(values(loader(2, 1).epoch(4)), want);
    EXPECT_NE(values(loader(2, 2).epoch(3)), want);
    DataLoader next = loader(2, 1);
    EXPECT_NE(values(next), values(next)); // the next epoch
    EXPECT_EQ(targets(DataLoader(Numbers(0), {.num_workers = 3}).epoch(0)).size(), 0U);
}

struct Failing {
    std::size_t at;
    Example<> get(std::size_t i) const
    {
        if (i == at) throw std::out_of_range("example " + std::to_string(i));
        return {1.0F, static_cast<int>(i)};
    }
    std::size_t size() const { return 20; }
};

TEST(Workers, ThrowWhereTheirBatchComes)
{
    for (const std::size_t workers : {0, 1, 3}) {
        DataLoader loader(Failing{9}, {.batch_size = 4, .num_workers = workers});
        std::vector<int> seen;
        try {
            for (auto [x, y] : loader) {
                const auto labels = y.to_vector<std::int32_t>();
                seen.insert(seen.end(), labels.begin(), labels.end());
            }
            FAIL() << "nothing was thrown";
        } catch (const std::out_of_range& e) {
            EXPECT_STREQ(e.what(), "example 9");
        }
        EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7)) << workers;
        EXPECT_EQ(loader.state_dict().at("epoch").item<std::int64_t>(),
                  0); // the batch that failed would come next
        EXPECT_EQ(loader.state_dict().at("batch").item<std::int64_t>(), 2);
        auto it = loader.begin();
        ++it; // batches that nobody looks at are passed
        EXPECT_EQ((*it).target.to_vector<std::int32_t>()[0], 4);
        EXPECT_THROW(*++it, std::out_of_range);
        EXPECT_TRUE(it == loader.end());
        EXPECT_EQ(error_of([&] { return it.operator->(); }).kind, ErrorKind::state);
    }
}

// A batch that nobody looked at is gone when it has thrown: one who waited for it would wait forever.
TEST(Workers, EndTheEpochWhereABatchThatIsPassedThrows)
{
    for (const std::size_t workers : {1, 3}) {
        DataLoader loader(Failing{9}, {.batch_size = 4, .num_workers = workers});
        auto it = loader.begin();
        ++it;
        ++it;
        EXPECT_THROW(++it, std::out_of_range);
        EXPECT_TRUE(it == loader.end());
        EXPECT_EQ(error_of([&] { return it.operator->(); }).kind, ErrorKind::state);
    }
}

TEST(Workers, OptionsAreChecked)
{
    EXPECT_EQ(error_of([] { return DataLoader(Numbers(2), {.num_workers = 100000}); }).kind,
              ErrorKind::argument);
    EXPECT_EQ(error_of([] { return DataLoader(Numbers(2), {.num_workers = 1, .prefetch = 0}); }).kind,
              ErrorKind::argument);
    EXPECT_EQ(error_of([] { return DataLoader(Numbers(2), {.batch_size = 0}); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([] { return DataLoader(std::shared_ptr<const data::BatchSource>(), {}); }).kind,
              ErrorKind::argument);
}

} // namespace
