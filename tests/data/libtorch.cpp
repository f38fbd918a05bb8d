// Data sets, samplers and loaders as programs for libtorch and PyTorch write them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include <reprise/reprise.hpp>

#include "io/scratch.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using data::DataLoader, data::DataLoaderOptions, data::TensorDataset, data::random_split;
using testing::ElementsAre;
using testing::HasSubstr;

// Example i is [i], i.
TensorDataset numbers(int count)
{
    std::vector<float> x;
    std::vector<std::int32_t> y;
    for (int i = 0; i < count; ++i) {
        x.push_back(static_cast<float>(i));
        y.push_back(i);
    }
    return {data::Array(x, {count, 1}), data::Array(y)};
}
std::vector<std::int32_t> targets(DataLoader& loader)
{
    std::vector<std::int32_t> all;
    for (auto& batch : loader)
        for (const std::int32_t y : batch.target.to_vector<std::int32_t>()) all.push_back(y);
    return all;
}

TEST(LoaderOptions, AreBuiltAsInLibtorch)
{
    const DataLoader::Options o =
        DataLoaderOptions().batch_size(64).workers(2).drop_last(true).enforce_ordering(false);
    EXPECT_EQ(o.batch_size, 64);
    EXPECT_EQ(o.num_workers, 2U);
    EXPECT_TRUE(o.drop_last);
    EXPECT_EQ(DataLoaderOptions(32).batch_size(), 32);
    DataLoader a(numbers(10), 4), b(numbers(10), DataLoaderOptions(3).shuffle(true)), c(numbers(10));
    EXPECT_EQ(a.size(), 3);
    EXPECT_EQ(b.size(), 4);
    EXPECT_EQ(c.size(), 10);
    const auto d = data::make_data_loader(numbers(10), DataLoaderOptions().batch_size(4).workers(2)),
               e = data::make_data_loader(numbers(10), 4), f = data::make_data_loader(numbers(10)),
               g = data::make_data_loader(numbers(10), data::samplers::RandomSampler(10),
                                          DataLoaderOptions(5));
    EXPECT_EQ(d->size() + e->size() + f->size() + g->size(), 3 + 3 + 10 + 2);
    std::int64_t rows = 0;
    for (auto& batch : *d) rows += batch.data.size(0);
    EXPECT_EQ(rows, 10);
}

TEST(Arrays, AreTensorsWhereOneIsWanted)
{
    const data::Example<> e = numbers(3).get(2);
    EXPECT_EQ(e.data.size(0), 1);
    EXPECT_EQ(e.data.size(-1), 1);
    EXPECT_EQ(e.data.dim(), 1);
    EXPECT_THAT(error_of([&] { e.data.size(1); }).text, HasSubstr("[size] The dimension (1)"));
    std::ostringstream text;
    text << data::Array(f32, {2, 3}).sizes();
    text << data::Array(i32, {2});
    EXPECT_EQ(text.str().substr(0, 18), "[2, 3]tensor([0, 0");
    const Tensor t = e.data;
    EXPECT_EQ(t.item<float>(), 2);
    const Tensor twice = e.data * 2;
    EXPECT_EQ(twice.item<float>(), 4);
}

TEST(RandomSplit, GivesEachExampleToOnePart)
{
    const auto [train, test] = random_split(numbers(10), {8, 2});
    EXPECT_EQ(train.size(), 8U);
    EXPECT_EQ(test.size().value(), 2U);
    DataLoader a(train, 3), b(test, {.batch_size = 2});
    auto seen = targets(a);
    EXPECT_FALSE(std::is_sorted(seen.begin(), seen.end()));
    for (const std::int32_t y : targets(b)) seen.push_back(y);
    EXPECT_EQ(std::set<std::int32_t>(seen.begin(), seen.end()).size(), 10U);
    // torch.utils.data.random_split of 10 gives 8 and 2: what is left over goes to the first parts.
    const auto shares = random_split(numbers(10), {0.75, 0.25});
    EXPECT_EQ(shares[0].size(), 8U);
    EXPECT_EQ(random_split(numbers(10), std::vector<int>{5, 5}).size(), 2U);
    EXPECT_THAT(error_of([] { random_split(numbers(10), {8, 3}); }).text, HasSubstr("(3)"));
    EXPECT_THAT(error_of([] { random_split(numbers(10), {8, 1}); }).text, HasSubstr("add up to (9)"));
    EXPECT_THAT(error_of([] { random_split(numbers(10), {0.5, 0.4}); }).text, HasSubstr("add up to (0.9)"));
}

TEST(Subsets, TakeTheGivenExamples)
{
    data::Subset some(numbers(10), {7, 1, 7});
    DataLoader loader(some.map([](data::Example<> e) { return e; }), 2);
    EXPECT_THAT(targets(loader), ElementsAre(7, 1, 7));
    EXPECT_THAT(error_of([&] { some.get(3); }).text, HasSubstr("[Subset] The index (3)"));
    EXPECT_EQ(error_of([] { data::Subset(numbers(10), {10}); }).kind, ErrorKind::argument);
    data::ImageDataset images{1, 1, 2, {10, 11, 20, 21, 30, 31}, {1, 2, 3}};
    DataLoader of_images(data::Subset(images, {2, 0}), {.batch_size = 2, .mean = {1}});
    for (const auto& [x, y] : of_images) { // options of images count here too
        EXPECT_THAT(y.to_vector<std::int32_t>(), ElementsAre(3, 1));
        EXPECT_FLOAT_EQ(x.to_vector<float>()[3], 11.0F / 255 - 1);
    }
}

TEST(ConcatDatasets, GoThroughAllParts)
{
    data::ConcatDataset all(numbers(2), data::Subset(numbers(5), {}), numbers(3)),
        same({numbers(1), numbers(2)});
    EXPECT_EQ(all.size(), 5U);
    DataLoader loader(all, {.batch_size = 2, .num_workers = 1}), other(same, 3);
    EXPECT_THAT(targets(loader), ElementsAre(0, 1, 0, 1, 2));
    EXPECT_THAT(targets(other), ElementsAre(0, 0, 1));
    EXPECT_EQ(all.get(4).target.values<std::int32_t>()[0], 2);
    EXPECT_THAT(error_of([&] { all.get(5); }).text, HasSubstr("[ConcatDataset] The index (5)"));
}

TEST(SamplersByHand, GiveBatchesOfIndices)
{
    data::samplers::SequentialSampler in_order(3);
    EXPECT_THAT(*in_order.next(2), ElementsAre(0, 1));
    EXPECT_THAT(*in_order.next(2), ElementsAre(2));
    EXPECT_FALSE(in_order.next(2).has_value());
    in_order.reset(1);
    EXPECT_THAT(*in_order.next(5), ElementsAre(0));
    data::samplers::RandomSampler random(10);
    const auto first = *random.next(100);
    random.reset();
    const auto second = *random.next(100);
    EXPECT_EQ(std::set<std::size_t>(first.begin(), first.end()).size(), 10U);
    EXPECT_NE(first, second);
    EXPECT_THAT(error_of([] { data::samplers::RandomSampler().next(1); }).text,
                HasSubstr("RandomSampler(10)"));
    EXPECT_EQ(error_of([&] { random.next(0); }).kind, ErrorKind::argument);
}

// The header of an IDX file of bytes.
std::string idx(const std::vector<int>& sizes)
{
    std::string out{0, 0, 8, static_cast<char>(sizes.size())};
    for (const int n : sizes) out += {0, 0, 0, static_cast<char>(n)};
    return out;
}

TEST(Mnist, IsFoundWhereTorchvisionPutsIt)
{
    const Scratch scratch;
    const auto raw = scratch / "MNIST" / "raw";
    std::filesystem::create_directories(raw);
    for (const char* part : {"train", "t10k"}) {
        const int count = part[1] == 'r' ? 2 : 1;
        const auto n = static_cast<std::size_t>(count);
        write_text(raw / (std::string(part) + "-images-idx3-ubyte"),
                   idx({count, 28, 28}) + std::string(n * 784, '\x7f'));
        write_text(raw / (std::string(part) + "-labels-idx1-ubyte"), idx({count}) + std::string(n, '\5'));
    }
    EXPECT_EQ(data::mnist(scratch.path()).train.size(), 2);
    data::datasets::MNIST test(scratch.path(), data::datasets::MNIST::Mode::kTest);
    EXPECT_EQ(test.size().value(), 1U);
    EXPECT_FALSE(test.is_train());
    const auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
        data::datasets::MNIST(scratch.path())
            .map(data::transforms::Normalize<>(0.1307, 0.3081))
            .map(data::transforms::Stack<>()),
        2);
    for (auto& batch : *loader) {
        EXPECT_EQ(batch.data.sizes(), Shape({2, 1, 28, 28}));
        EXPECT_NEAR(batch.data[1][0][27][27].item<float>(), (127.0 / 255 - 0.1307) / 0.3081, 1e-6);
        EXPECT_THAT(batch.target.to_vector<std::int32_t>(), ElementsAre(5, 5));
    }
    EXPECT_THAT(error_of([&] { data::mnist(scratch.path() / "none"); }).text, HasSubstr("MNIST/raw"));
}

} // namespace
