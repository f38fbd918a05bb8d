// Blocks that threads keep.
#include <reprise/recycled.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace reprise {
namespace {

TEST(Recycled, BlocksAreApartAndWhole)
{
    std::vector<std::pair<unsigned char*, std::size_t>> held;
    for (int round = 0; round < 3; ++round) {
        for (const std::size_t bytes : {0, 1, 63, 64, 65, 1000, 1024, 1025, 100000})
            for (int i = 0; i < 20; ++i) {
                auto* p = static_cast<unsigned char*>(detail::take_block(bytes));
                std::memset(p, static_cast<int>(held.size() % 251), bytes);
                held.emplace_back(p, bytes);
            }
        for (std::size_t k = 0; k < held.size(); ++k)
            for (std::size_t i = 0; i < held[k].second; i += 17) ASSERT_EQ(held[k].first[i], k % 251);
        for (const auto& [p, bytes] : held) detail::give_block(p, bytes);
        held.clear();
    }
}

// More than a thread keeps of a size: what is left over is freed, as sanitizers see.
TEST(Recycled, ManyBlocksOfASize)
{
    std::vector<void*> held;
    for (int i = 0; i < 50000; ++i) held.push_back(detail::take_block(200));
    EXPECT_EQ(std::set<void*>(held.begin(), held.end()).size(), held.size());
    for (void* p : held) detail::give_block(p, 200);
}

TEST(Recycled, BlocksGoFromThreadToThread)
{
    using Ints = std::vector<int, Recycled<int>>;
    std::vector<Ints> made(100);
    std::thread([&] {
        for (std::size_t i = 0; i < made.size(); ++i) made[i].assign(i, static_cast<int>(i));
    }).join(); // what that thread kept is gone
    std::thread([&] {
        for (std::size_t i = 0; i < made.size(); ++i) {
            EXPECT_EQ(made[i], Ints(i, static_cast<int>(i)));
            made[i] = {};
        }
    }).join();
}

TEST(Recycled, AThreadsLastObjectsMayBeFreed)
{
    struct Late {
        std::vector<int, Recycled<int>> values;
    };
    std::thread([] {
        thread_local Late late; // made before the thread keeps blocks, so it ends behind them
        late.values.assign(10, 3);
        EXPECT_EQ(late.values.back(), 3);
    }).join();
}

} // namespace
} // namespace reprise
