// Sizes of several calls as expressions.
#include "program/relate.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace reprise::program {
namespace {

using Values = std::vector<std::int64_t>;

// The sizes at other values of the symbols.
Values at(const Related& r, const Values& symbols)
{
    Values out;
    for (const Dim& d : r.sizes)
        out.push_back(d.evaluate([&](std::uint32_t id) {
            for (std::size_t i = 0; i < r.symbols.size(); ++i)
                if (r.symbols[i].id == id) return symbols.at(i);
            return std::int64_t{-1};
        }));
    return out;
}

TEST(Relate, WhatIsTheSameIsANumber)
{
    const Related r = relate({{4, 7}, {4, 7}}, 0);
    EXPECT_TRUE(r.symbols.empty());
    EXPECT_EQ(r.sizes, (DimVector{4, 7}));
}

TEST(Relate, WhatDiffersAlikeIsOneSymbol)
{
    const Related r = relate({{4, 7, 4}, {5, 7, 5}}, 0);
    ASSERT_EQ(r.symbols.size(), 1u);
    EXPECT_EQ(r.symbols[0].position, 0u);
    EXPECT_EQ(at(r, {9}), (Values{9, 7, 9}));
}

TEST(Relate, FindsMultiplesPartsProductsAndOffsets)
{
    // Of externals: batch, length; of attributes before them: batch * length, length / 2, length + 1, batch * 12.
    const auto sizes = [](std::int64_t b, std::int64_t t) {
        return Values{b * t, t / 2, t + 1, b * 12, b, t};
    };
    const Related r = relate({sizes(3, 16), sizes(5, 24)}, 4);
    ASSERT_EQ(r.symbols.size(), 2u);
    EXPECT_EQ(at(r, {7, 10}), sizes(7, 10));
}

TEST(Relate, OfExternalsNoneIsExplainedByAnOffset)
{
    const Related r = relate({{3, 16}, {5, 18}}, 0);
    EXPECT_EQ(r.symbols.size(), 2u);
}

TEST(Relate, OfExternalsTheSmallOnesAreSymbols)
{
    const Related r = relate({{48, 3}, {80, 5}}, 0); // 16 * n, n
    ASSERT_EQ(r.symbols.size(), 1u);
    EXPECT_EQ(r.symbols[0].position, 1u);
    EXPECT_EQ(at(r, {7}), (Values{112, 7}));
}

TEST(Relate, WhatNothingExplainsIsASymbolOfItsOwn)
{
    const Related r = relate({{17, 4}, {3, 5}, {90, 7}}, 1);
    ASSERT_EQ(r.symbols.size(), 2u);
    EXPECT_EQ(at(r, {6, 1000}), (Values{1000, 6}));
}

TEST(Relate, NoGuessSurvivesACallThatDisagrees)
{
    EXPECT_EQ(relate({{8, 4}, {12, 6}}, 1).symbols.size(), 1u); // twice as long
    EXPECT_EQ(relate({{8, 4}, {12, 6}, {12, 7}}, 1).symbols.size(), 2u);
}

TEST(Relate, TakesZeroAndLargeNumbers)
{
    constexpr std::int64_t large = std::int64_t{1} << 62;
    const Related r = relate({{0, 0, large}, {4, 8, 3}, {1, 2, large - 1}}, 0);
    EXPECT_EQ(r.symbols.size(), 2u);
    EXPECT_EQ(at(r, {5, 6}), (Values{5, 10, 6}));
}

} // namespace
} // namespace reprise::program
