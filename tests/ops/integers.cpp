// Integers are exact and wrap, on every device and in every reader.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/program.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::ElementsAre;

using Ints = std::vector<std::int32_t>;
using Longs = std::vector<std::int64_t>;

constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max(),
                       least = std::numeric_limits<std::int32_t>::min();

Tensor ints(const Ints& v) { return from_vector(v, {static_cast<long long>(v.size())}); }

TEST(Integers, Wrap)
{
    const Tensor x = ints({most, least, 100003, -7}), y = ints({1, -1, 100003, 7});
    EXPECT_THAT((x + y).to_vector<std::int32_t>(), ElementsAre(least, most, 200006, 0));
    EXPECT_THAT((x - y).to_vector<std::int32_t>(), ElementsAre(most - 1, least + 1, 0, -14));
    EXPECT_THAT((x * y).to_vector<std::int32_t>(), ElementsAre(most, least, 1410665417, -49));
    EXPECT_THAT((-x).to_vector<std::int32_t>(), ElementsAre(-most, least, -100003, 7));
    EXPECT_THAT(abs(x).to_vector<std::int32_t>(), ElementsAre(most, least, 100003, 7));
    EXPECT_THAT(square(x).to_vector<std::int32_t>(), ElementsAre(1, 0, 1410665417, 49));
}

TEST(Integers, CompareAndChoose)
{
    const Tensor x = ints({most, least, 16777217, 3}), y = ints({most - 1, least + 1, 16777216, 3});
    EXPECT_THAT((x > y).to_vector<bool>(), ElementsAre(true, false, true, false));
    EXPECT_THAT((x == y).to_vector<bool>(), ElementsAre(false, false, false, true));
    EXPECT_THAT(maximum(x, y).to_vector<std::int32_t>(), ElementsAre(most, least + 1, 16777217, 3));
    EXPECT_THAT(where(x > y, x, y).to_vector<std::int32_t>(), ElementsAre(most, least + 1, 16777217, 3));
    EXPECT_THAT(sign(x).to_vector<std::int32_t>(), ElementsAre(1, -1, 1, 1));
    EXPECT_EQ(amax(x - y).item<std::int32_t>(), 1);
}

// Beyond 2^53 a double holds every other integer only.
struct Integers64 : testing::Test {
    const std::int64_t big = (std::int64_t{1} << 53) + 1;
    Tensor longs(const Longs& v, const Shape& shape) { return from_vector(v, shape); }
};

TEST_F(Integers64, AreCopiedWhole)
{
    const Tensor x = longs({big, -big, big + 1, 5, 6, 7}, {2, 3});
    EXPECT_EQ(x.t().to_vector<std::int64_t>(), (Longs{big, 5, -big, 6, big + 1, 7}));
    EXPECT_EQ(x.narrow(1, 1, 1).contiguous().to_vector<std::int64_t>(), (Longs{-big, 6}));
    EXPECT_EQ(flip(x, {1}).to_vector<std::int64_t>(), (Longs{big + 1, -big, big, 7, 6, 5}));
}

TEST_F(Integers64, AreComputedWhole)
{
    const Tensor x = longs({big, -big, 3}, {3});
    EXPECT_EQ((x + 2).to_vector<std::int64_t>(), (Longs{big + 2, -big + 2, 5}));
    EXPECT_EQ((x * x).to_vector<std::int64_t>()[0], (std::int64_t{1} << 54) + 1); // 2^106 wraps
    EXPECT_EQ((x == x - 1).to_vector<bool>(), std::vector<bool>(3, false));
    EXPECT_EQ(sum(x).item<std::int64_t>(), 3);
    EXPECT_EQ(amax(x).item<std::int64_t>(), big);
    EXPECT_EQ(cast(x, i32).to_vector<std::int32_t>(), (Ints{1, -1, 3}));
}

// Elements that share a word, from every place in it, in every narrow dtype.
template <class T> void check_narrow(DType dtype)
{
    const std::int64_t lowest = std::numeric_limits<T>::min(), highest = std::numeric_limits<T>::max();
    for (const std::int64_t n : {1, 2, 3, 5, 11, 1030}) {
        std::vector<T> a, b, sums, products, shifted;
        for (std::int64_t i = 0; i < n; ++i) {
            a.push_back(static_cast<T>(i % 3 == 0 ? highest : i % 3 == 1 ? lowest : i));
            b.push_back(static_cast<T>(i * 7 + 1));
            sums.push_back(static_cast<T>(a.back() + b.back()));
            products.push_back(static_cast<T>(a.back() * b.back()));
        }
        for (std::int64_t i = 0; i < n; ++i) shifted.push_back(a[static_cast<std::size_t>((i + 1) % n)]);
        const Tensor x = from_vector(a, {n}), y = from_vector(b, {n});
        EXPECT_EQ(x.dtype(), dtype);
        EXPECT_EQ((x + y).to_vector<T>(), sums);
        EXPECT_EQ((x * y).to_vector<T>(), products);
        EXPECT_EQ(cast(cast(x, i32), dtype).to_vector<T>(), a);
        EXPECT_EQ(cast(cast(x, f32), dtype).to_vector<T>(), a);
        // views that start inside a word
        EXPECT_EQ(cat({x.narrow(0, 1, n - 1), x.narrow(0, 0, 1)}).to_vector<T>(), shifted);
        EXPECT_EQ(flip(flip(x, {0}), {0}).to_vector<T>(), a);
        EXPECT_EQ(amax(x).item<T>(), *std::max_element(a.begin(), a.end()));
        EXPECT_EQ(sum(x).item<std::int64_t>(), std::accumulate(a.begin(), a.end(), std::int64_t{0}));
    }
}

TEST(NarrowIntegers, ShareWords)
{
    check_narrow<std::int8_t>(i8);
    check_narrow<std::int16_t>(i16);
    check_narrow<std::uint8_t>(u8);
}

TEST(LongIntegers, KeepTheirDtype)
{
    const Longs v = {most, -5, 0, least};
    const Tensor x = from_vector(v, {4});
    EXPECT_EQ((x * 1).dtype(), i64);
    EXPECT_EQ(x.to_vector<std::int64_t>(), v);
    EXPECT_EQ(x.reshape({2, 2}).t().to_vector<std::int64_t>(), (Longs{most, 0, -5, least}));
    EXPECT_EQ(cast(cast(x, i32), i64).to_vector<std::int64_t>(), v);
    EXPECT_EQ(index_select(ints({7, 8, 9}), 0, from_vector(Longs{2, 0}, {2})).to_vector<std::int32_t>(),
              (Ints{9, 7}));
    Variable state(x, false);
    const Program next = record(
        [&](Tensor t) {
            state.assign(state + t);
            return state * 1;
        },
        {spec({4}, i64)});
    EXPECT_EQ(next(from_vector(Longs{0, 5, 1, 1}, {4})).to_vector<std::int64_t>(),
              (Longs{most, 0, 1, std::int64_t{least} + 1}));
    EXPECT_EQ(state.to_vector<std::int64_t>(), (Longs{most, 0, 1, least + 1}));
}

TEST(Integers, SizesDoNotOverflow)
{
    const std::int64_t huge = std::int64_t{1}
                              << 62; // 2^64 bytes of f32, and of (2^62, 4) values 0 in 64 bits
    EXPECT_EQ(error_of([&] { return from_vector(std::vector<float>{}, {huge}); }).kind, ErrorKind::shape);
    EXPECT_NE(error_of([&] { return from_vector(std::vector<float>{}, {huge, 4}); }).text, Caught{}.text);
    EXPECT_NE(error_of([&] { return zeros({huge}).to_vector<float>(); }).text, Caught{}.text);
}

} // namespace
