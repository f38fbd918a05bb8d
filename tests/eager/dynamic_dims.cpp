// Sizes of several calls as expressions.
#include "eager/dynamic_dims.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace reprise::eager {
namespace {

using Values = std::vector<std::int64_t>;

// The sizes at other values of the symbols.
Values at(const DynamicDims& r, const Values& symbols)
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

TEST(DynamicDims, WhatIsTheSameIsANumber)
{
    const DynamicDims r = infer_dynamic_dims({{4, 7}, {4, 7}}, 0);
    EXPECT_TRUE(r.symbols.empty());
    EXPECT_EQ(r.sizes, (DimVector{4, 7}));
}

TEST(DynamicDims, WhatDiffersAlikeIsOneSymbol)
{
    const DynamicDims r = infer_dynamic_dims({{4, 7, 4}, {5, 7, 5}}, 0);
    ASSERT_EQ(r.symbols.size(), 1u);
    EXPECT_EQ(r.symbols[0].position, 0u);
    EXPECT_EQ(at(r, {9}), (Values{9, 7, 9}));
}

TEST(DynamicDims, FindsMultiplesPartsProductsAndOffsets)
{
    // Of externals: batch, length; of attributes before them: batch * length, length / 2, length + 1, batch * 12.
    const auto sizes = [](std::int64_t b, std::int64_t t) {
        return Values{b * t, t / 2, t + 1, b * 12, b, t};
    };
    const DynamicDims r = infer_dynamic_dims({sizes(3, 16), sizes(5, 24)}, 4);
    ASSERT_EQ(r.symbols.size(), 2u);
    EXPECT_EQ(at(r, {7, 10}), sizes(7, 10));
}

TEST(DynamicDims, OfExternalsNoneIsExplainedByAnOffset)
{
    const DynamicDims r = infer_dynamic_dims({{3, 16}, {5, 18}}, 0);
    EXPECT_EQ(r.symbols.size(), 2u);
}

TEST(DynamicDims, OfExternalsTheSmallOnesAreSymbols)
{
    const DynamicDims r = infer_dynamic_dims({{48, 3}, {80, 5}}, 0); // 16 * n, n
    ASSERT_EQ(r.symbols.size(), 1u);
    EXPECT_EQ(r.symbols[0].position, 1u);
    EXPECT_EQ(at(r, {7}), (Values{112, 7}));
}

TEST(DynamicDims, WhatNothingExplainsIsASymbolOfItsOwn)
{
    const DynamicDims r = infer_dynamic_dims({{17, 4}, {3, 5}, {90, 7}}, 1);
    ASSERT_EQ(r.symbols.size(), 2u);
    EXPECT_EQ(at(r, {6, 1000}), (Values{1000, 6}));
}

TEST(DynamicDims, NoGuessSurvivesACallThatDisagrees)
{
    EXPECT_EQ(infer_dynamic_dims({{8, 4}, {12, 6}}, 1).symbols.size(), 1u); // twice as long
    EXPECT_EQ(infer_dynamic_dims({{8, 4}, {12, 6}, {12, 7}}, 1).symbols.size(), 2u);
}

TEST(DynamicDims, TakesZeroAndLargeNumbers)
{
    constexpr std::int64_t large = std::int64_t{1} << 62;
    const DynamicDims r = infer_dynamic_dims({{0, 0, large}, {4, 8, 3}, {1, 2, large - 1}}, 0);
    EXPECT_EQ(r.symbols.size(), 2u);
    EXPECT_EQ(at(r, {5, 6}), (Values{5, 10, 6}));
}

} // namespace
} // namespace reprise::eager
