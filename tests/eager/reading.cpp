// Reading views: those whose elements lie in a row are read where they lie.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include <reprise/device.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "support/devices.hpp"

namespace reprise {
namespace {

// The launches of the plans that it compiles.
std::uint64_t launches_of(const auto& read)
{
    const test::PlansOfTheirOwn each;
    const std::uint64_t before = stats().launches;
    read();
    return stats().launches - before;
}

TEST(Reading, OfElementsInARowLaunchesNothing)
{
    struct View {
        Tensor value;
        std::size_t first, count; // its elements in the matrix
    };
    for (const DType dtype : {f32, f16, i32, i64, u8}) {
        const Tensor x = arange(24).reshape({4, 6}).to(dtype);
        const std::vector<std::byte> whole = to_bytes(x);
        for (const View& view :
             {View{x.narrow(0, 1, 2), 6, 12}, View{x.select(0, -1), 18, 6},
              View{x.select(0, 2).narrow(0, 1, 4), 13, 4}, View{x.select(0, 1).select(0, 2), 8, 1},
              View{x.narrow(1, 2, 1).select(0, 3), 20, 1}, View{x.narrow(0, 4, 0), 24, 0}}) {
            std::vector<std::byte> found;
            EXPECT_EQ(launches_of([&] { found = to_bytes(view.value); }), 0u) << view.first;
            const std::size_t size = whole.size() / 24;
            EXPECT_EQ(found, std::vector(whole.begin() + static_cast<std::ptrdiff_t>(view.first * size),
                                         whole.begin() +
                                             static_cast<std::ptrdiff_t>((view.first + view.count) * size)))
                << view.first;
        }
    }
}

TEST(Reading, OfOtherViewsCopies)
{
    const Tensor x = arange(6).reshape({2, 3}).to(f32);
    x.eval();
    EXPECT_GE(launches_of([&] {
                  EXPECT_EQ(x.t().to_vector<float>(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
              }),
              1u);
    EXPECT_EQ(x.narrow(1, 1, 2).to_vector<float>(), (std::vector<float>{1, 2, 4, 5}));
    EXPECT_EQ(x.select(1, 2).to_vector<float>(), (std::vector<float>{2, 5}));
    EXPECT_EQ(x.select(0, 1).expand({2, 3}).to_vector<float>(), (std::vector<float>{3, 4, 5, 3, 4, 5}));
    EXPECT_EQ(x.flip({1}).to_vector<float>(), (std::vector<float>{2, 1, 0, 5, 4, 3}));
}

// The results of a program up to 4096 bytes lie in memory of the host.
TEST(Reading, OfARowOfAProgramsResult)
{
    for (const std::int64_t columns : {3, 3000}) {
        const Program twice = record([](const Tensor& in) { return in * 2; }, {spec({2, columns})});
        const Tensor y = twice(arange(2 * columns).reshape({2, columns}).to(f32));
        const auto first = static_cast<float>(2 * columns);
        EXPECT_EQ(y.select(0, 1).narrow(0, 0, 3).to_vector<float>(),
                  (std::vector<float>{first, first + 2, first + 4}));
        EXPECT_EQ(y.select(0, 1).select(0, 1).item<float>(), first + 2);
    }
}

} // namespace
} // namespace reprise
