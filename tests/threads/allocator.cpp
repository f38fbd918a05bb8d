#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "device/suballocator.hpp"

namespace reprise::device {
namespace {

TEST(Threads, ShareAnAllocator)
{
    constexpr std::uint64_t bytes = std::uint64_t{256} << 20, window = bytes / 2;
    SubAllocator allocator(bytes);
    allocator.add_block(0x7000'0000'0000, bytes, window);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
        threads.emplace_back([&allocator, t] {
            std::mt19937 random(t);
            std::vector<SubAllocator::Allocation> mine;
            for (int i = 0; i < 5000; ++i) {
                if (const auto r = allocator.allocate(1 + random() % 50000);
                    std::holds_alternative<SubAllocator::Allocation>(r)) {
                    mine.push_back(std::get<SubAllocator::Allocation>(r));
                }
                if (mine.size() > 50) {
                    std::swap(mine[random() % mine.size()], mine.back());
                    allocator.release(mine.back());
                    mine.pop_back();
                }
            }
            for (const auto& a : mine) {
                allocator.release(a);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    allocator.verify();
    EXPECT_EQ(allocator.usage().live, 0u);
}

} // namespace
} // namespace reprise::device
