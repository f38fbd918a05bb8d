// Injected failures: out of memory at each allocation of a step, a lost device at each submit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include <reprise/autograd.hpp>
#include <reprise/random.hpp>

#include "shape/error_of.hpp"
#include "support/devices.hpp"
#include "support/training.hpp"

namespace reprise {
namespace {

using device::Device;
using test::Bits;
using test::Net;
using test::Training;
using Fault = Device::Fault;

constexpr int steps = 4;    // the one that is disturbed, and three more
constexpr int enough = 400; // failures: no step has so many calls

Device& device_in_use() { return test::inner(default_device()); }

struct Disarm {
    ~Disarm() { device_in_use().clear_faults(); }
};

// Step 0 of `attempt(t, 0)` fails at its first, second, ... allocation and is tried again; what comes out of all steps
// must be what comes out undisturbed.
void fail_each_allocation(Net net, const std::function<std::function<void(int step)>(Training&)>& prepare)
{
    const auto run = [&](int failing) {
        const Disarm disarm;
        Training t(net);
        manual_seed(5);
        const auto step = prepare(t);
        bool failed = false;
        if (failing)
            device_in_use().fail_next("allocate", static_cast<std::uint32_t>(failing), Fault::out_of_memory);
        for (int i = 0; i < steps; ++i) {
            try {
                step(i);
            } catch (const Error& error) {
                EXPECT_EQ(error.kind(), ErrorKind::out_of_memory) << error.what();
                EXPECT_FALSE(failed) << "it failed twice";
                failed = true;
                step(i);
            }
            device_in_use().clear_faults(); // of step 0 only
        }
        return std::pair(t.state(), failed);
    };
    const auto undisturbed = run(0).first;
    int failing = 1;
    for (bool failed = true; failed && failing < enough; ++failing) {
        const auto [state, did_fail] = run(failing);
        failed = did_fail;
        EXPECT_EQ(state, undisturbed) << "after a failure of allocation " << failing;
    }
    EXPECT_GT(failing, 3) << "nothing was allocated";
    EXPECT_LT(failing, enough);
}

class OutOfMemory : public testing::TestWithParam<Net> {};
INSTANTIATE_TEST_SUITE_P(Nets, OutOfMemory, testing::ValuesIn(test::all_nets),
                         [](const auto& test) { return name_of(test.param); });

TEST_P(OutOfMemory, InAReplayedStep)
{
    fail_each_allocation(GetParam(), [](Training& t) {
        const Program p = t.recorded(symbol("batch"));
        return [&t, p](int i) {
            const auto [x, target] = t.batch(4 + i, static_cast<std::uint64_t>(i));
            static_cast<void>(p(x, target).item<float>());
        };
    });
}

TEST_P(OutOfMemory, WhileRecording)
{
    fail_each_allocation(GetParam(), [](Training& t) {
        auto p = std::make_shared<Program>();
        return [&t, p](int i) {
            const auto [x, target] = t.batch(4, static_cast<std::uint64_t>(i));
            if (!p->defined()) *p = t.recorded(symbol("batch"));
            static_cast<void>((*p)(x, target).item<float>());
        };
    });
}

// What was computed lazily can still be read.
TEST_P(OutOfMemory, InAnEagerStep)
{
    fail_each_allocation(GetParam(), [](Training& t) {
        auto loss = std::make_shared<Tensor>();
        return [&t, loss](int i) {
            if (!loss->defined()) {
                const auto [x, target] = t.batch(4, static_cast<std::uint64_t>(i));
                *loss = t.step(x, target);
            }
            static_cast<void>(loss->item<float>());
            for (const Variable& p : t.net.parameters()) p.eval();
            *loss = Tensor();
        };
    });
}

// What a call that failed has counted is taken back: a checkpoint that is loaded then, or eager code, goes on from the
// state that the device has.
TEST(OutOfMemory, TakesAnOptimizersStepsBack)
{
    const Disarm disarm;
    Training t(Net::cnn); // with Adam
    const Program p = t.recorded(symbol("batch"));
    const auto [x, target] = t.batch(4, 1);
    x.eval(), target.eval();
    static_cast<void>(p(x, target));
    const auto saved = t.optimizer->state_dict();
    device_in_use().fail_next("submit", 1, Fault::out_of_memory);
    EXPECT_THROW(p(x, target), Error);
    device_in_use().clear_faults();
    for (const auto& [name, value] : t.optimizer->state_dict())
        EXPECT_EQ(test::bits(value), test::bits(saved.at(name))) << name;
    static_cast<void>(p(x, target));
    EXPECT_EQ(t.optimizer->state_dict().at("0.step").item<std::int32_t>(), 2);
}

TEST(MemoryLimit, IsAnErrorThatLeavesTheDeviceUsable)
{
    const reprise::Device d = default_device();
    const std::uint64_t before = device_in_use().counters().memory_limit, live = d.live_bytes();
    d.set_memory_limit(live + (1 << 20));
    const Caught error = error_of([] {
        return (ones({1024, 1024}) * rand({1024, 1024})).to_vector<float>();
    });
    EXPECT_EQ(error.kind, ErrorKind::out_of_memory);
    EXPECT_THAT(error.text, testing::HasSubstr("MiB"));
    EXPECT_EQ((ones({16}) * 2).to_vector<float>(), std::vector<float>(16, 2.0f));
    d.set_memory_limit(before);
    EXPECT_EQ((ones({1024, 1024}) * 2).to_vector<float>()[5], 2);
    EXPECT_EQ(d.live_bytes(), live);
}

class Lost : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Calls, Lost, testing::Values("submit", "wait"),
                         [](const auto& test) { return test.param; });

TEST_P(Lost, AtEachCallIsAnErrorAndANewDeviceTrains)
{
    const std::string name = default_device().name();
    const auto train = [] {
        Training t(Net::mlp);
        const Program p = t.recorded(symbol("batch"));
        const auto [x, target] = t.batch(4, 1);
        static_cast<void>(t.step(x, target).item<float>());
        static_cast<void>(p(x, target).item<float>());
        return t.state();
    };
    const auto undisturbed = train();
    const auto elsewhere =
        name == "reference" ? test::open(device::make_reference_device()) : reprise::Device("reference");
    bool failed = true;
    int failing = 1;
    for (; failed && failing < enough; failing += failing < 4 ? 1 : 4) { // the first calls, then some
        const reprise::Device lost = default_device();
        const Tensor old = ones({4}, {.device = lost}) * 3;
        old.eval();
        test::inner(lost).fail_next(GetParam(), static_cast<std::uint32_t>(failing), Fault::lost);
        const Caught error = error_of(train);
        failed = test::inner(lost).lost();
        if (!failed) {
            test::inner(lost).clear_faults();
            break;
        }
        EXPECT_EQ(error.kind, ErrorKind::device_lost) << failing << ": " << error.text;
        EXPECT_EQ(error_of([&] { return old.to_vector<float>(); }).kind, ErrorKind::device_lost);
        EXPECT_EQ(error_of([&] { return (old + 1).to_vector<float>(); }).kind, ErrorKind::device_lost);
        EXPECT_EQ((ones({2}, {.device = elsewhere}) * 3).to_vector<float>(), std::vector<float>({3, 3}));
        reset_device(name);
        EXPECT_EQ(train(), undisturbed) << failing;
        if (HasFailure()) break;
    }
    EXPECT_GT(failing, 1) << "nothing failed";
    EXPECT_LT(failing, enough);
}

} // namespace
} // namespace reprise
