// Counts of accesses whose costs are known.
#include <gtest/gtest.h>

#include "run.hpp"

namespace reprise::test {
namespace {

const std::vector<std::uint32_t> code{
#include "simulator_tests_shaders/accesses.inc"
};

struct Ratios {
    double loads32 = 0, loads64 = 0, stores32 = 0, bank_cycles = 0, idle32 = 0;
};

double over(std::uint64_t a, std::uint64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

Ratios count(std::uint32_t pattern)
{
    const auto device = simulator::make_simulator({.counts = true});
    run(*device, {.name = "accesses", .code = code, .constants = {pattern}, .x = Floats(512), .results = 64});
    const simulator::KernelCounts& counts = device->counted().at(0)->counts;
    Ratios r;
    for (const simulator::GlobalCount& g : counts.global()) {
        if (g.operand == 1)
            r.loads32 = over(g.sectors[0], g.least[0]), r.loads64 = over(g.sectors[1], g.least[1]);
        if (g.operand == 2) r.stores32 = over(g.sectors[0], g.least[0]);
    }
    for (const simulator::SharedCount& s : counts.shared())
        if (s.least > 0) r.bank_cycles = over(s.cycles, s.least);
    r.idle32 = over(counts.idle().idle[0], counts.idle().lanes[0]);
    return r;
}

TEST(SimulatorCounts, SectorsOfLoads)
{
    const double expected[] = {1, 8, 2, 1, 1, 1.25}; // by pattern
    for (std::uint32_t pattern = 0; pattern < 6; ++pattern) {
        const Ratios r = count(pattern);
        EXPECT_EQ(r.loads32, expected[pattern]) << pattern;
        EXPECT_EQ(r.loads64, pattern == 5 ? 1.125 : expected[pattern]) << pattern;
        EXPECT_EQ(r.stores32, 1) << pattern;
        EXPECT_EQ(r.idle32, 0) << pattern;
    }
}

TEST(SimulatorCounts, CyclesOfBanks)
{
    EXPECT_EQ(count(6).bank_cycles, 1);
    EXPECT_EQ(count(7).bank_cycles, 32);
    EXPECT_EQ(count(8).bank_cycles, 2);
    EXPECT_EQ(count(9).bank_cycles, 1);
    EXPECT_EQ(count(10).bank_cycles, 1);
    EXPECT_EQ(count(11).bank_cycles, 2);
}

TEST(SimulatorCounts, IdleLanes) { EXPECT_NEAR(count(12).idle32, 0.5, 0.01); }

} // namespace
} // namespace reprise::test
