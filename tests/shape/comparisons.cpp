// Comparisons of sizes decide what holds for all values of the symbols, and are errors where the values decide; sizes
// go where numbers go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <sstream>
#include <unordered_set>
#include <vector>

#include <reprise/dim.hpp>

#include "error_of.hpp"

namespace {

using namespace reprise;
using testing::HasSubstr;

struct Comparisons : testing::Test {
    Dim batch = symbol("batch"), seq = symbol("seq", {.min = 2, .max = 8}),
        heads = symbol("heads", {.min = 1, .multiple_of = 8});
};

TEST_F(Comparisons, OfConstantsAreThoseOfNumbers)
{
    const Dim four = 4;
    EXPECT_TRUE(four == 4 && 4u == four && four != 5L && four < 5 && 3 < four && four <= 4 && four >= 4ULL);
    EXPECT_FALSE(four == -4 || four != std::size_t{4} || four > 4 || four >= 5 || 4 > four);
    EXPECT_TRUE(four == 4.0 && four < 4.5 && 3.5f < four);
    EXPECT_TRUE((Shape{2, 3} == Shape{2, 3}) && (Shape{2, 3} != Shape{3, 2}) && (Shape{} != Shape{1}));
    EXPECT_TRUE((Shape{2, 3} == std::vector<std::int64_t>{2, 3}));
}

TEST_F(Comparisons, DecideWhatHoldsForAllValues)
{
    EXPECT_TRUE(batch == batch && batch + 1 == 1 + batch && !(batch != batch));
    EXPECT_TRUE(batch != batch + 1 && batch < batch + 1 && batch <= batch && !(batch > batch));
    EXPECT_TRUE(batch >= 0 && batch != -1 && -1 < batch && !(batch < 0));
    EXPECT_TRUE(seq >= 2 && seq <= 8 && seq < 9 && seq > 1 && seq != 1 && seq != 9 && 9 > seq);
    EXPECT_TRUE(seq * 2 <= 16 && min(seq, 4) <= 4 && floor_div(seq, 2) >= 1);
    EXPECT_TRUE(heads != 12 && heads * 3 != 25) << "no multiple of 8";
    EXPECT_TRUE((Shape{batch, 3} != Shape{batch, 4}) && (Shape{batch, 3} == Shape{batch, 3}));
    EXPECT_TRUE((Shape{batch, 3} != Shape{4, 4})) << "whatever the batch is";
    EXPECT_TRUE((Shape{batch, 3} != Shape{batch}));
}

TEST_F(Comparisons, AreErrorsWhereTheValuesDecide)
{
    const auto refused = [](const std::function<bool()>& compare) {
        const Caught error = error_of(compare);
        EXPECT_EQ(error.kind, ErrorKind::state) << error.text;
        return error.text;
    };
    EXPECT_THAT(
        refused([&] { return batch == 4; }),
        HasSubstr("[size] The comparison of (batch) with (4) depends on a size that is known at each call"));
    EXPECT_THAT(refused([&] { return batch * 2 != seq; }), HasSubstr("(batch * 2) with (seq)"));
    EXPECT_THAT(refused([&] { return batch < 4; }), HasSubstr("(batch) with (4)"));
    EXPECT_THAT(refused([&] { return seq > 2; }), HasSubstr("(2) with (seq)"));
    refused([&] { return 4 <= batch; });
    refused([&] { return seq >= 3; });
    refused([&] { return heads == 16; });
    refused([&] { return batch == 4.0; });
    EXPECT_THAT(refused([&] {
                    return Shape{batch, 3} == Shape{4, 3};
                }),
                HasSubstr("([batch, 3]) with ([4, 3])"));
    refused([&] { return Shape{batch, 3} != Shape{seq, 3}; });
    refused([&] { return static_cast<bool>(batch); });
}

TEST_F(Comparisons, AskWhatIsKnownWithoutAnError)
{
    EXPECT_TRUE(same(batch, batch) && same(batch + batch, 2 * batch) && same(Dim(4), 4) && same(4, Dim(4)));
    EXPECT_FALSE(same(batch, 4) || same(batch, seq) || same(batch, batch + 1));
    EXPECT_TRUE(same(Shape{batch, 3}, Shape{batch, 3}));
    EXPECT_FALSE(same(Shape{batch, 3}, Shape{4, 3}) || same(Shape{batch}, Shape{batch, 3}));
    const std::unordered_set<Dim> keys{batch, seq, batch + 0, 4, 4};
    EXPECT_EQ(keys.size(), 3u);
}

TEST(SizesAsNumbers, GoWhereNumbersGo)
{
    const Dim n = 6;
    const std::int64_t wide = n;
    const int narrow = n;
    const std::size_t count = n;
    EXPECT_TRUE(wide == 6 && narrow == 6 && count == 6);
    std::vector<float> v(n);
    v.resize(n + 1);
    EXPECT_EQ(v.size(), 7u);
    int turns = 0;
    for (int i = 0; i < n; ++i) ++turns;
    for (std::size_t i = 0; i < n; ++i) ++turns;
    EXPECT_EQ(turns, 12);
    EXPECT_EQ(n / 4, 1);
    EXPECT_EQ(n % 4, 2);
    EXPECT_EQ(13 / n, 2);
    EXPECT_EQ(13 % n, 1);
    EXPECT_EQ(Dim(-7) / 2, -4) << "down, as floor_div";
    EXPECT_EQ(1.0 / n, 1.0 / 6);
    EXPECT_EQ(n * 0.5, 3.0);
    EXPECT_EQ(n / 4.0, 1.5);
    static_assert(std::is_same_v<decltype(n * 0.5f), float> && std::is_same_v<decltype(n / 2), Dim>);
    EXPECT_EQ(std::sqrt(n), std::sqrt(6.0));
    EXPECT_EQ(std::pow(n, 2), 36.0);
    double sum = 3;
    sum /= n;
    EXPECT_EQ(sum, 0.5);
    Dim d = n;
    EXPECT_EQ(d++, 6);
    EXPECT_EQ(--d, 6);
    d /= 2;
    d %= 2;
    EXPECT_EQ(d, 1);
    EXPECT_TRUE(n ? true : false);
    const std::vector<std::int64_t> list{n, 3};
    EXPECT_TRUE((Shape(list) == Shape{6, 3}));
    std::ostringstream text;
    text << n << ' ' << static_cast<long>(n);
    EXPECT_EQ(text.str(), "6 6");
}

TEST(SizesAsNumbers, RefuseSymbolsAndWhatDoesNotFit)
{
    const Dim batch = symbol("batch");
    for (const auto& use : std::vector<std::function<double()>>{
             [&] {
                 const std::int64_t n = batch;
                 return static_cast<double>(n);
             },
             [&] { return batch * 0.5; }, [&] { return 1.0 / batch; }, [&] { return std::sqrt(batch); }}) {
        const Caught error = error_of(use);
        EXPECT_EQ(error.kind, ErrorKind::state);
        EXPECT_THAT(error.text, HasSubstr("(batch) is known at each call only"));
    }
    EXPECT_EQ((batch / 2).text(), "floor(batch, 2)");
    const Dim large = std::int64_t{1} << 33;
    const Caught narrow = error_of([&] {
        const int n = large;
        return n;
    });
    EXPECT_EQ(narrow.kind, ErrorKind::argument);
    EXPECT_THAT(narrow.text, HasSubstr("(8589934592) does not fit into an integer of (4) bytes"));
    EXPECT_EQ(error_of([] {
                  const std::size_t n = Dim(-1);
                  return n;
              }).kind,
              ErrorKind::argument);
}

} // namespace
