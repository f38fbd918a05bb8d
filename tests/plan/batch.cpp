// The update of all parameters is one launch, unless something between would notice.
#include <gtest/gtest.h>

#include "plan/hand_made.hpp"
#include "program/program.hpp"
#include "support/devices.hpp"
#include "support/training.hpp"

namespace reprise {
namespace {

class Batch : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, Batch, testing::Values("lavapipe", "swiftshader", "gpu"),
                         [](const auto& test) { return test.param; });

TEST_P(Batch, AStepUpdatesAllParametersAtOnce)
{
    for (const test::Net net : test::all_nets) {
        const Device device = test::imitation(GetParam());
        const test::UseDevice use(device);
        test::Training training{net};
        const Program program = training.recorded(symbol("batch"));
        int updates = 0;
        for (const plan::PlanLaunch& l : program.impl()->executable().compiled().plan.launches)
            updates += l.batches && l.fallback_of == plan::no_launch;
        EXPECT_EQ(updates, 1) << name_of(net);
    }
}

// The kernels read and write 16 bits.
TEST_P(Batch, HalvesAreNotWidened)
{
    const Device device = test::imitation(GetParam());
    const test::UseDevice use(device);
    const auto arena = [](std::size_t parameters) {
        std::vector<StepOf> of;
        std::vector<Spec> specs;
        const Program program = record(
            [&](const std::vector<Tensor>& in) {
                for (std::size_t p = 0; p < parameters; ++p)
                    of.push_back({in[3 * p], in[3 * p + 1], {in[3 * p + 2]}});
                std::vector<Tensor> out;
                for (const auto& next : rmsprop_step(of, {.lr = 0.1}))
                    out.insert(out.end(), next.begin(), next.end());
                return out;
            },
            std::vector<Spec>(3 * parameters, spec({1 << 16}, bf16)));
        return program.impl()->executable().arena_bytes({});
    };
    EXPECT_EQ(arena(4), 0u);
}

// A launch of one member; `first` its workgroup, then its count.
plan::PlanLaunch& step(plan::HandMade& p, std::uint32_t from, std::uint32_t to, std::int64_t count)
{
    p.launch({from}, {to});
    plan::PlanLaunch& l = p.plan.launches.back();
    l.kernel = "step";
    l.constants = {1, 5};
    l.batches = true;
    l.ints = {0, count};
    l.groups = ceil_div(Dim(count), 1024);
    return l;
}

TEST(BatchPass, PutsMembersBehindEachOther)
{
    plan::HandMade p;
    step(p, p.external(), p.output(), 3000);
    step(p, p.external(), p.output(), 0);
    step(p, p.external(), p.output(), 10);
    plan::batch(p.plan);
    ASSERT_EQ(p.plan.launches.size(), 1u);
    const plan::PlanLaunch& l = p.plan.launches[0];
    EXPECT_EQ(l.constants, (std::vector<std::uint32_t>{3, 5}));
    EXPECT_EQ(l.operands.size(), 6u);
    EXPECT_EQ(l.ints, (DimVector{0, 3000, 3, 0, 3, 10}));
    EXPECT_EQ(l.groups, Dim(4));
}

TEST(BatchPass, LeavesWhatALaunchBetweenReads)
{
    plan::HandMade p;
    const auto a = p.temporary();
    step(p, p.external(), a, 8);
    p.launch({a}, {p.output()});
    step(p, p.external(), p.output(), 8);
    plan::batch(p.plan);
    EXPECT_EQ(p.plan.launches.size(), 3u);
}

TEST(BatchPass, LeavesWhatDependsOnAnother)
{
    plan::HandMade p;
    const auto a = p.temporary();
    step(p, p.external(), a, 8);
    step(p, a, p.output(), 8);
    plan::batch(p.plan);
    EXPECT_EQ(p.plan.launches.size(), 2u);
}

// Gradients that die at the step of each member may not wait for all others: 4 MiB each, of a peak of 8.
TEST(BatchPass, LetsFewGradientsWait)
{
    plan::HandMade p;
    constexpr std::int64_t count = 1 << 20;
    for (int i = 0; i < 3; ++i) {
        const auto gradient = p.temporary(count);
        p.launch({}, {gradient});
        step(p, gradient, p.output(), count);
    }
    plan::batch(p.plan);
    EXPECT_EQ(p.plan.launches.size(), 6u);
}

// Gradients that all exist at the first step wait for nothing.
TEST(BatchPass, MergesNeighbours)
{
    plan::HandMade p;
    constexpr std::int64_t count = 1 << 20;
    std::vector<std::uint32_t> gradients;
    for (int i = 0; i < 6; ++i) gradients.push_back(p.temporary(count));
    for (const std::uint32_t g : gradients) p.launch({}, {g});
    for (std::size_t i = 0; i < gradients.size(); ++i)
        step(p, gradients[i], p.output(), count).constants = {1, static_cast<std::uint32_t>(i % 2)};
    plan::batch(p.plan);
    EXPECT_EQ(p.plan.launches.size(), 6u + 2);
}

TEST(BatchPass, LeavesOtherKernels)
{
    plan::HandMade p;
    step(p, p.external(), p.output(), 8);
    step(p, p.external(), p.output(), 8).constants = {1, 4};
    plan::batch(p.plan);
    EXPECT_EQ(p.plan.launches.size(), 2u);
}

} // namespace
} // namespace reprise
