// The order of an epoch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include <reprise/data.hpp>

namespace {

using reprise::data::shuffled;
using testing::ElementsAre;

TEST(Shuffle, IsAPermutation)
{
    for (const std::int64_t size : {0, 1, 2, 3, 100, 4097}) {
        std::vector<std::int64_t> order = shuffled(size, 1, 2), expected(static_cast<std::size_t>(size));
        std::iota(expected.begin(), expected.end(), std::int64_t{0});
        std::sort(order.begin(), order.end());
        EXPECT_EQ(order, expected);
    }
}

TEST(Shuffle, IsAFunctionOfSeedAndEpoch)
{
    EXPECT_EQ(shuffled(1000, 5, 7), shuffled(1000, 5, 7));
    EXPECT_NE(shuffled(1000, 5, 7), shuffled(1000, 5, 8));
    EXPECT_NE(shuffled(1000, 5, 7), shuffled(1000, 6, 7));
    EXPECT_NE(shuffled(1000, 5, 7), shuffled(1000, 7, 5));
}

// Fixed for good: experiments name their seeds.
TEST(Shuffle, KeepsItsOrderOnEveryPlatform)
{
    EXPECT_THAT(shuffled(8, 0, 0), ElementsAre(1, 0, 6, 4, 3, 5, 2, 7));
    EXPECT_THAT(shuffled(8, 42, 3), ElementsAre(1, 0, 5, 3, 4, 6, 7, 2));
}

TEST(Shuffle, GivesEachOrderAsOften)
{
    std::map<std::vector<std::int64_t>, int> count;
    constexpr int trials = 24'000;
    for (std::uint64_t epoch = 0; epoch < trials; ++epoch) ++count[shuffled(4, 9, epoch)];
    ASSERT_EQ(count.size(), 24u);
    double chi_square = 0;
    for (const auto& entry : count) chi_square += (entry.second - 1000.0) * (entry.second - 1000.0) / 1000.0;
    EXPECT_LT(chi_square, 49.7); // 23 degrees of freedom: 0.1 % of fair generators are above
}

} // namespace
