// Updates run as soon as their gradients exist, and the batched ones do not hold much memory.
#include <gtest/gtest.h>

#include <string>

#include <reprise/reprise.hpp>

#include "plan/hand_made.hpp"
#include "program/program.hpp"
#include "support/devices.hpp"

namespace reprise {
namespace {

using plan::HandMade;

std::uint32_t update(HandMade& p, std::uint32_t gradient, std::uint32_t state)
{
    const std::uint32_t i = p.launch({gradient, state}, {state}, true);
    p.plan.launches[i].batches = true;
    return i;
}

// Launches 0 and 1 are one epoch, which the update has to wait for; launch 2 begins the next one.
TEST(Advance, RunsWhereTheNextEpochBegins)
{
    HandMade p;
    const auto g = p.temporary(), h = p.temporary(), state = p.external();
    p.launch({}, {g});
    p.launch({}, {h});
    p.launch({h}, {p.output()});
    p.launch({h}, {p.output()});
    update(p, g, state);
    plan::advance_updates(p.plan);
    EXPECT_EQ(p.labels(),
              (std::vector<std::string>{"launch 0", "launch 1", "launch 4", "launch 2", "launch 3"}));
    EXPECT_EQ(p.epochs(), (std::vector<std::uint32_t>{0, 0, 1, 1, 1}));
}

TEST(Advance, WaitsForReadersOfTheOldValue)
{
    HandMade p;
    const auto g = p.temporary(), a = p.temporary(), state = p.external();
    p.launch({}, {g});
    p.launch({state}, {a});
    p.launch({a}, {p.output()});
    update(p, g, state);
    plan::advance_updates(p.plan);
    EXPECT_EQ(p.labels(), (std::vector<std::string>{"launch 0", "launch 1", "launch 3", "launch 2"}));
}

TEST(Advance, TakesFallbacksAlong)
{
    HandMade p;
    const auto g = p.temporary(), a = p.temporary(), state = p.external();
    p.launch({}, {g});
    p.fallback(0, {}, {g});
    p.launch({g}, {a});
    p.launch({a}, {p.output()});
    update(p, g, state);
    p.fallback(4, {g, state}, {state});
    plan::advance_updates(p.plan);
    EXPECT_EQ(p.labels(), (std::vector<std::string>{"launch 0", "launch 1", "launch 4", "launch 5",
                                                    "launch 2", "launch 3"}));
    EXPECT_EQ(p.plan.launches[1].fallback_of, 0u);
    EXPECT_EQ(p.plan.launches[3].fallback_of, 2u);
}

// Moving these would free nothing.
TEST(Advance, LeavesWhatFreesNoTemporary)
{
    HandMade p;
    const auto g = p.temporary(), state = p.external();
    p.launch({}, {g});
    p.launch({}, {state});
    p.launch({state}, {p.output()});
    update(p, p.external(), p.external()); // the gradient is not a temporary
    update(p, g, p.temporary());           // as much is begun
    const auto before = p.labels();
    plan::advance_updates(p.plan);
    EXPECT_EQ(p.labels(), before);
}

class Gradients : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, Gradients, testing::Values("lavapipe", "swiftshader", "gpu"),
                         [](const auto& test) { return test.param; });

// Eight weights of 4 MiB: at most three of their gradients exist at a time.
TEST_P(Gradients, AreFreedDuringTheBackwardPass)
{
    const Device device = test::imitation(GetParam());
    const test::UseDevice use(device);
    nn::Sequential net;
    for (int i = 0; i < 8; ++i) net.push_back(nn::Linear(1024, 1024, {.bias = false}));
    optim::Adam optimizer(net.parameters(), {.lr = 0.1});
    const Program program = record_function(
        [&](const std::vector<Tensor>& in) {
            optimizer.zero_grad();
            net(in[0]).sum().backward();
            optimizer.step();
            return std::vector<Tensor>{};
        },
        {spec({4, 1024})});
    EXPECT_LT(program.memory({}).peak, std::uint64_t{3} * 4 << 20);
    int updates = 0;
    for (const plan::PlanLaunch& l : program.impl()->executable().compiled().plan.launches)
        updates += l.batches && l.fallback_of == plan::no_launch;
    EXPECT_GE(updates, 2);
}

} // namespace
} // namespace reprise
