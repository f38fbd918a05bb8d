// Each check of the simulated GPU finds its fault: in kernels that copy 128 numbers, with one fault each.
#include <numeric>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/error.hpp>

#include "run.hpp"

namespace reprise::test {
namespace {

const std::vector<std::uint32_t> code{
#include "simulator_tests_shaders/faults.inc"
};

struct Case {
    const char* name;
    std::uint32_t fault; // its number in faults.comp
    std::string error;   // a part of it
    device::Access access_of_result = device::Access::write;
};

Floats numbers()
{
    Floats x(128);
    std::iota(x.begin(), x.end(), 1.0F);
    return x;
}

Floats run_fault(const Case& c, const simulator::Options& options = {})
{
    return run(*simulator::make_simulator(options), {.name = "faults",
                                                     .code = code,
                                                     .constants = {c.fault},
                                                     .ints = {128},
                                                     .x = numbers(),
                                                     .results = 128,
                                                     .groups = 2,
                                                     .access_of_result = c.access_of_result});
}

TEST(SimulatorFaults, OfNone)
{
    for (const std::uint32_t size : {16U, 32U, 64U})
        EXPECT_EQ(run_fault({"None", 0, ""}, {.subgroup_size = size}), numbers());
    EXPECT_EQ(run_fault({"None", 0, ""}, {.reverses = true}), numbers());
}

class SimulatorFault : public testing::TestWithParam<Case> {};

TEST_P(SimulatorFault, IsFound)
{
    try {
        run_fault(GetParam());
        FAIL() << "The fault was not found.";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::internal);
        EXPECT_THAT(e.what(),
                    testing::HasSubstr("faults <" + std::to_string(GetParam().fault) + ">, workgroup ("));
        EXPECT_THAT(e.what(), testing::HasSubstr(GetParam().error));
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, SimulatorFault,
    testing::Values(
        Case{"ReadsOutside", 1, "lane (63): reads 4 bytes"}, // and the text of the next case
        Case{"WritesOutside", 2, "lane (63): writes 4 bytes"},
        Case{"ReadsBelow", 3, "at byte -4 of operand 0 (512 bytes)"},
        Case{"WritesAnInput", 4, "of operand 0 (512 bytes), which its launch does not declare"},
        Case{"ReadsAnOutput", 5, "of operand 1 (512 bytes), which its launch does not declare"},
        Case{"NoBarrier", 6, "of shared memory, which lane 63 writes without a barrier between"},
        Case{"NoSecondBarrier", 7, "of shared memory, which lane 63 reads without a barrier between"},
        Case{"NotWritten", 8, "lane (7): reads 4 bytes"},
        Case{"NoLaneHasWritten", 8, "which no lane has written"},
        Case{"SameWord", 9, "lane (1): writes 4 bytes"},
        Case{"OutsideOfShared", 10, "at byte 256 of shared memory, whose variable has 256"},
        Case{"DivergentBarrier", 11, "lane (32): waits at a barrier that only 32 of 64 lanes reach"},
        Case{"LeftBarrier", 12, "lane (0): waits at a barrier that only 32 of 64 lanes reach"},
        Case{"Misaligned", 13, "which is not aligned to 16"},
        Case{"SameElement", 14, "which lane 0 of workgroup 0 writes in the same launch"},
        Case{"OfOtherGroup", 15, "which lane 0 of workgroup 0 writes in the same launch"},
        Case{"ReadsOfOtherLane", 16, "which lane 1 of workgroup 0 reads in the same launch",
             device::Access::read_write},
        Case{"DividesByZero", 17, "lane (0): divides an integer by 0"},
        Case{"ShiftsTooFar", 18, "lane (32): shifts 32 bits by 32"},
        Case{"NoOperand", 19, "at an address that no operand has"},
        Case{"OutsideOfArray", 20, "lane (4): reads 4 bytes"}),
    [](const auto& c) { return c.param.name; });

// At the other end of the launch, if its last workgroup runs first.
TEST(SimulatorFaults, OfTheLastGroup)
{
    try {
        run_fault({"OfOtherGroup", 15, ""}, {.reverses = true});
        FAIL() << "The fault was not found.";
    } catch (const Error& e) {
        EXPECT_THAT(e.what(), testing::HasSubstr("workgroup (0), lane (0): writes 4 bytes"));
    }
}

} // namespace
} // namespace reprise::test
