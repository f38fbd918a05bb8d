// Blocks of a driver's memory: how they grow, and what the driver's estimate allows.
#include "device/block_memory.hpp"
#include "device_test_tools.hpp"
#include <algorithm>
#include <map>
#include <utility>

namespace reprise::device {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

// A driver with memory of 1 GiB, of which it estimates `budget` to be for this process.
class Driver {
public:
    BlockMemory::Source source()
    {
        return {.add = [this](std::uint64_t bytes) { return add(bytes); },
                .remove = [this](Address a) { remove(a); },
                .drain = [this] { ++drains; },
                .max_block = 1024 * mib,
                .ceiling = 1024 * mib,
                .name = "a driver",
                .available = [this] { return budget - std::min(budget, used); }};
    }
    std::uint64_t budget = 1024 * mib, used = 0;
    int drains = 0;

private:
    Address add(std::uint64_t bytes)
    {
        used += bytes;
        blocks_[next_] = bytes;
        return std::exchange(next_, next_ + 1024 * mib);
    }
    void remove(Address a)
    {
        used -= blocks_.at(a);
        blocks_.erase(a);
    }
    std::map<Address, std::uint64_t> blocks_;
    Address next_ = 1024 * mib;
};

TEST(BlockMemory, FollowsTheDriversEstimate)
{
    Driver driver;
    BlockMemory memory(driver.source(), 900 * mib);
    const auto first = memory.allocate(10 * mib);
    EXPECT_EQ(driver.used, 64 * mib);
    driver.budget = 100 * mib; // another program has started
    const auto second = memory.allocate(30 * mib);
    EXPECT_EQ(driver.used, 64 * mib) << "of the first block";
    const auto third = memory.allocate(30 * mib);
    EXPECT_LE(driver.used, driver.budget) << "a smaller block than usual";
    try {
        memory.allocate(40 * mib);
        ADD_FAILURE() << "it does not fit";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
        EXPECT_NE(std::string(error.what()).find("estimates"), std::string::npos) << error.what();
    }
    memory.release(third);
    driver.budget = 110 * mib;
    const auto fourth = memory.allocate(46 * mib); // the empty block goes back to the driver
    EXPECT_LE(driver.used, driver.budget);
    EXPECT_EQ(driver.drains, 1);
    driver.budget = 1024 * mib; // and has ended
    const auto fifth = memory.allocate(500 * mib);
    EXPECT_GE(driver.used, 564 * mib);
    for (const auto& a : {first, second, fourth, fifth}) memory.release(a);
    memory.verify();
}

} // namespace
} // namespace reprise::device
