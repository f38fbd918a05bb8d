// The vector whose first elements lie in itself.
#include <reprise/few.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace reprise {
namespace {

using Strings = Few<std::string, 2>;
const std::string text = "longer than what a string holds in itself, by far";

Strings filled(std::size_t n)
{
    Strings f;
    for (std::size_t i = 0; i < n; ++i) f.push_back(text + std::to_string(i));
    return f;
}
void expect_filled(const Strings& f, std::size_t n)
{
    ASSERT_EQ(f.size(), n);
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(f[i], text + std::to_string(i));
}

TEST(Few, GrowsOutOfItself)
{
    for (std::size_t n = 0; n < 9; ++n) expect_filled(filled(n), n);
}

TEST(Few, IsCopiedAndMoved)
{
    for (const std::size_t n : {0, 1, 2, 3, 7})
        for (const std::size_t m : {0, 2, 5}) {
            Strings a = filled(n), b = filled(m), c(a);
            expect_filled(c, n);
            b = a;
            expect_filled(b, n);
            expect_filled(a, n);
            Strings d = filled(m);
            d = std::move(a);
            expect_filled(d, n);
            const Strings e(std::move(d));
            expect_filled(e, n);
            EXPECT_EQ(e, c);
        }
}

TEST(Few, TakesWhatLiesInIt)
{
    for (const std::size_t n : {1, 2, 4}) {
        Strings f = filled(n);
        f.push_back(f[0]);
        EXPECT_EQ(f.back(), text + "0");
        f.emplace_back(f[0]);
        EXPECT_EQ(f.back(), text + "0");
        const Strings& same = f;
        f = same;
        EXPECT_EQ(f.size(), n + 2);
    }
}

TEST(Few, IsMadeOfVectorsAndLists)
{
    std::vector<std::string> v{text + "0", text + "1", text + "2"};
    expect_filled(Strings(std::move(v)), 3);
    expect_filled(Strings{text + "0"}, 1);
}

TEST(Few, IsCutAndCleared)
{
    Strings f = filled(5);
    f.resize(3);
    expect_filled(f, 3);
    f.resize(4);
    EXPECT_EQ(f.back(), "");
    f.clear();
    EXPECT_TRUE(f.empty());
    EXPECT_THROW(static_cast<void>(f.at(0)), std::out_of_range);
}

std::vector<std::string> of(const Strings& f) { return {f.begin(), f.end()}; }

TEST(Few, InsertsAndErasesAsAVectorDoes)
{
    const std::vector<std::string> more{text + "x", text + "y", text + "z"};
    for (std::ptrdiff_t n = 0; n < 6; ++n)
        for (std::ptrdiff_t at = 0; at <= n; ++at)
            for (std::ptrdiff_t count = 0; count <= 3; ++count) {
                Strings f = filled(static_cast<std::size_t>(n));
                std::vector<std::string> v = of(f);
                EXPECT_EQ(*f.insert(f.begin() + at, text), *v.insert(v.begin() + at, text));
                EXPECT_EQ(of(f), v);
                EXPECT_EQ(f.insert(f.begin() + at, more.begin(), more.begin() + count) - f.begin(), at);
                v.insert(v.begin() + at, more.begin(), more.begin() + count);
                EXPECT_EQ(of(f), v);
                f.insert(f.end() - at, static_cast<std::size_t>(count), f[0]);
                v.insert(v.end() - at, static_cast<std::size_t>(count), std::string(v[0]));
                EXPECT_EQ(of(f), v);
                const std::ptrdiff_t to = std::min<std::ptrdiff_t>(at + count, std::ssize(v));
                EXPECT_EQ(f.erase(f.begin() + at, f.begin() + to) - f.begin(), at);
                v.erase(v.begin() + at, v.begin() + to);
                EXPECT_EQ(of(f), v);
                if (v.empty()) continue;
                f.erase(f.begin());
                v.erase(v.begin());
                EXPECT_EQ(of(f), v);
            }
}

TEST(Few, GrowsNoLargerThanItCanCount)
{
    Strings f = filled(3);
    for (const std::size_t n : {std::size_t{1} << 32, std::size_t{1} << 60, ~std::size_t{0}}) {
        EXPECT_THROW(f.reserve(n), std::length_error);
        EXPECT_THROW(f.resize(n), std::length_error);
        expect_filled(f, 3);
    }
    std::size_t grown = 0;
    for (std::size_t n = 0; n < 64; ++n) {
        const std::size_t before = f.capacity();
        f.resize(f.size() + 1);
        grown += f.capacity() != before;
    }
    EXPECT_LT(grown, 8u);
}

TEST(Few, IsReadBothWaysAndCompared)
{
    for (const std::size_t n : {0, 1, 2, 5}) {
        const Strings f = filled(n);
        const std::vector<std::string> v = of(f);
        EXPECT_TRUE(std::equal(f.rbegin(), f.rend(), v.rbegin(), v.rend()));
        EXPECT_EQ(Strings(n, text), Strings(std::vector<std::string>(n, text)));
        Strings g = f;
        g.assign(3, text);
        EXPECT_EQ(of(g), std::vector<std::string>(3, text));
        g.assign(v.begin(), v.end());
        EXPECT_EQ(g, f);
        EXPECT_EQ(g <=> f, std::strong_ordering::equal);
        g.resize(n + 2, text);
        EXPECT_EQ(g.back(), text);
        EXPECT_EQ(g <=> f, std::strong_ordering::greater);
        EXPECT_NE(g, f);
        g.pop_back();
        g.resize(n);
        EXPECT_EQ(g, f);
        EXPECT_THROW(static_cast<void>(g.at(n)), std::out_of_range);
        if (n) {
            EXPECT_EQ(&g.front(), &g.at(0));
        }
    }
}

struct Throwing {
    static inline int alive = 0, copies_left = 0;
    Throwing() { ++alive; }
    Throwing(const Throwing&)
    {
        if (copies_left-- == 0) throw std::runtime_error("no more");
        ++alive;
    }
    Throwing(Throwing&&) noexcept { ++alive; }
    Throwing& operator=(const Throwing&) = default;
    ~Throwing() { --alive; }
};

// It destroys nothing twice, and what was there stays.
TEST(Few, ACopyThatThrowsLeavesNothing)
{
    for (int copies = 0; copies < 5; ++copies) {
        {
            Few<Throwing, 2> f, g;
            f.resize(5);
            g.resize(1);
            Throwing::copies_left = copies;
            EXPECT_THROW(g = f, std::runtime_error);
            EXPECT_EQ(g.size(), 1u);
            Throwing::copies_left = copies;
            EXPECT_THROW((Few<Throwing, 2>(f)), std::runtime_error);
        }
        EXPECT_EQ(Throwing::alive, 0);
    }
}

struct Holder {
    std::shared_ptr<Few<Holder, 1>> inner{};
};
TEST(Few, IsAssignedWhatItsElementHolds)
{
    Few<Holder, 1> f;
    f.push_back({std::make_shared<Few<Holder, 1>>()});
    f[0].inner->resize(3);
    f = *f[0].inner;
    EXPECT_EQ(f.size(), 3u);
    f[0].inner = std::make_shared<Few<Holder, 1>>();
    f = std::move(*f[0].inner);
    EXPECT_TRUE(f.empty());
}

} // namespace
} // namespace reprise
