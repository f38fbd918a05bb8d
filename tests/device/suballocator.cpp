#include "device/suballocator.hpp"
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <reprise/error.hpp>

namespace reprise::device {
namespace {

constexpr std::uint64_t mebi = std::uint64_t{1} << 20;
constexpr std::uint64_t window = 128 * mebi;
constexpr Address base = 0x7000'0000'0000;

const SubAllocator::Allocation* granted(
    const std::variant<SubAllocator::Allocation, SubAllocator::Refusal>& r)
{
    return std::get_if<SubAllocator::Allocation>(&r);
}

// What is live, by address: the model that the allocator is checked against.
struct Model {
    std::map<Address, SubAllocator::Allocation> live;

    void add(const SubAllocator::Allocation& a)
    {
        ASSERT_EQ(a.address % 256, 0u);
        const auto next = live.lower_bound(a.address);
        if (next != live.end()) {
            ASSERT_LE(a.address + a.bytes, next->first) << "overlap";
        }
        if (next != live.begin()) {
            const auto& before = std::prev(next)->second;
            ASSERT_LE(before.address + before.bytes, a.address) << "overlap";
        }
        live.emplace(a.address, a);
    }
};

void random_run(std::uint64_t seed, std::uint64_t block_bytes, bool windowed, std::uint64_t largest)
{
    SubAllocator allocator(~std::uint64_t{0});
    allocator.add_block(base, block_bytes, windowed ? window : 0);
    allocator.add_block(base + 64 * block_bytes, block_bytes / 2, 0);
    std::mt19937_64 random(seed);
    Model model;
    std::uint64_t live = 0, refused = 0;
    for (int step = 0; step < 20000; ++step) {
        const bool filling = step / 2000 % 2 == 0; // phases of growth and of shrinking
        if (model.live.empty() || random() % 100 < (filling ? 65u : 35u)) {
            const double magnitude = std::uniform_real_distribution<>(0, std::log2(double(largest)))(random);
            const auto bytes = static_cast<std::uint64_t>(std::exp2(magnitude));
            const auto result = allocator.allocate(bytes);
            const auto* a = granted(result);
            if (!a) {
                ++refused;
                continue;
            }
            ASSERT_GE(a->bytes, bytes);
            ASSERT_LT(a->bytes, bytes + 256);
            const std::uint64_t offset = a->address - base;
            if (windowed && offset < block_bytes && a->bytes <= window) {
                ASSERT_EQ(offset / window, (offset + a->bytes - 1) / window) << "crosses a window's edge";
            }
            model.add(*a);
            live += a->bytes;
        } else {
            auto victim = model.live.lower_bound(base + random() % (65 * block_bytes));
            victim = victim == model.live.end() ? model.live.begin() : victim;
            live -= victim->second.bytes;
            allocator.release(victim->second);
            model.live.erase(victim);
        }
        ASSERT_EQ(allocator.usage().live, live);
        if (step % 500 == 0) {
            allocator.verify();
        }
    }
    EXPECT_GT(refused, 0u) << "the run never filled the blocks";
    for (const auto& [address, a] : model.live) {
        allocator.release(a);
    }
    allocator.verify();
    EXPECT_EQ(allocator.usage().live, 0u);
    EXPECT_EQ(allocator.usage().largest_free, block_bytes) << "free neighbours did not coalesce";
}

TEST(SubAllocator, AgreesWithAModelWithWindows)
{
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        random_run(seed, 2048 * mebi, true, 300 * mebi);
    }
}

TEST(SubAllocator, AgreesWithAModelOfSmallRanges)
{
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        random_run(seed, 8 * mebi, false, mebi);
    }
}

TEST(SubAllocator, RangesUpToAWindowStayInOne)
{
    SubAllocator allocator(4096 * mebi);
    allocator.add_block(base, 512 * mebi, window);
    const auto first = allocator.allocate(100 * mebi), second = allocator.allocate(100 * mebi);
    ASSERT_TRUE(granted(first) && granted(second));
    EXPECT_NE((granted(first)->address - base) / window, (granted(second)->address - base) / window);
    const auto whole = allocator.allocate(window); // exactly one
    ASSERT_TRUE(granted(whole));
    EXPECT_EQ((granted(whole)->address - base) % window, 0u);
}

TEST(SubAllocator, LargerRangesMayCross)
{
    SubAllocator allocator(4096 * mebi);
    allocator.add_block(base, 512 * mebi, window);
    ASSERT_TRUE(granted(allocator.allocate(64 * mebi)));
    const auto large = allocator.allocate(400 * mebi);
    EXPECT_TRUE(granted(large));
}

TEST(SubAllocator, LastPieceThatFitsIsFound)
{
    SubAllocator allocator(64 * mebi);
    allocator.add_block(base, mebi + 256, 0); // a size between two bins
    const auto all = allocator.allocate(mebi + 256);
    ASSERT_TRUE(granted(all));
    EXPECT_FALSE(granted(allocator.allocate(1)));
    allocator.release(*granted(all));
    EXPECT_TRUE(granted(allocator.allocate(mebi + 1)));
}

TEST(SubAllocator, LimitIsARefusalOfItsOwn)
{
    SubAllocator allocator(mebi);
    allocator.add_block(base, 16 * mebi, 0);
    const auto half = allocator.allocate(mebi / 2);
    ASSERT_TRUE(granted(half));
    EXPECT_EQ(std::get<SubAllocator::Refusal>(allocator.allocate(mebi)), SubAllocator::Refusal::limit);
    EXPECT_EQ(std::get<SubAllocator::Refusal>(allocator.allocate(~std::uint64_t{0})),
              SubAllocator::Refusal::limit);
    allocator.set_limit(64 * mebi);
    EXPECT_TRUE(granted(allocator.allocate(mebi)));
    EXPECT_EQ(std::get<SubAllocator::Refusal>(allocator.allocate(32 * mebi)), SubAllocator::Refusal::room);
    EXPECT_EQ(allocator.usage().peak, mebi * 3 / 2);
}

TEST(SubAllocator, EmptyBlocksGoButTheFirst)
{
    SubAllocator allocator(64 * mebi);
    allocator.add_block(base, mebi, 0);
    const std::uint32_t second = allocator.add_block(base + 16 * mebi, 2 * mebi, 0);
    const auto a = allocator.allocate(2 * mebi);
    ASSERT_TRUE(granted(a));
    EXPECT_TRUE(allocator.remove_empty_blocks().empty());
    allocator.release(*granted(a));
    EXPECT_EQ(allocator.remove_empty_blocks(), std::vector<std::uint32_t>{second});
    EXPECT_EQ(allocator.usage().reserved, mebi);
    EXPECT_EQ(allocator.add_block(base + 16 * mebi, 2 * mebi, 0), second) << "its number is free again";
}

TEST(SubAllocator, NothingTakesAGranule)
{
    SubAllocator allocator(mebi);
    allocator.add_block(base, mebi, 0);
    const auto a = allocator.allocate(0), b = allocator.allocate(0);
    ASSERT_TRUE(granted(a) && granted(b));
    EXPECT_NE(granted(a)->address, granted(b)->address);
}

TEST(SubAllocator, SentencesNameTheSizes)
{
    EXPECT_EQ(format_bytes(256), "256 bytes");
    EXPECT_EQ(format_bytes(3 * mebi / 2), "1.50 MiB");
    try {
        fail_out_of_memory(512 * mebi, {2048 * mebi, 1900 * mebi, 0, 0, 20 * mebi, 0}, "a device");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
        const std::string text = error.what();
        for (const char* part : {"512 MiB", "1.86 GiB", "2 GiB", "20 MiB", "a device"}) {
            EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
        }
    }
}

} // namespace
} // namespace reprise::device
