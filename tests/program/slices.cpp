// Slices, cancelling and readiness, by the public interface.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include <reprise/autograd.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/optim/sgd.hpp>
#include <reprise/random.hpp>

#include "device/registry.hpp"
#include "shape/error_of.hpp"
#include "support/devices.hpp"
#include "support/training.hpp"

namespace reprise {
namespace {

using namespace std::chrono_literals;
using test::Net;
using test::Training;

// The default device in slices, until the end of the test.
class Slices : public testing::Test {
protected:
    void SetUp() override
    {
        if (device_.type() != kVulkan) GTEST_SKIP() << "slices are Vulkan's";
        device_.set_slice(1us);
    }
    void TearDown() override
    {
        device_.cancel();
        if (device_.type() == kVulkan) device_.set_slice(std::nullopt);
    }
    // Starts slices until all is done.
    void finish() const
    {
        while (!device_.advance()) std::this_thread::yield();
        device_.synchronize();
    }

    const Device device_ = default_device();
};

Program step_of(Training& t)
{
    const Dim n = symbol("n", {.min = 1});
    return t.recorded(n);
}

TEST_F(Slices, HaveTheBitsOfWholeSteps)
{
    device::Device& inner = test::inner(device_);
    const auto train = [&](bool in_slices) {
        device_.set_slice(in_slices ? std::optional(1us) : std::nullopt);
        manual_seed(3);
        Training t(Net::normalised);
        const Program step = step_of(t);
        std::vector<float> losses;
        for (const std::int64_t n : {4, 7, 1, 12}) {
            const auto [x, target] = t.batch(n, static_cast<std::uint64_t>(n));
            const Tensor loss = step(x, target);
            const std::uint64_t before = inner.counters().submits;
            while (in_slices && !device_.advance()) std::this_thread::yield();
            if (in_slices) {
                EXPECT_GT(inner.counters().submits - before, 5u) << "parts of the step";
            }
            losses.push_back(loss.item<float>());
        }
        return std::pair(t.state(), losses);
    };
    EXPECT_TRUE(train(true) == train(false));
}

TEST_F(Slices, AreReadBetweenTheirParts)
{
    const auto train = [&](bool in_slices) {
        device_.set_slice(in_slices ? std::optional(1us) : std::nullopt);
        manual_seed(3);
        Training t(Net::mlp);
        const Program step = step_of(t);
        std::vector<decltype(t.state())> states;
        for (const std::int64_t n : {4, 7, 1}) {
            const auto [x, target] = t.batch(n, static_cast<std::uint64_t>(n));
            const Tensor loss = step(x, target);
            if (in_slices) {
                EXPECT_FALSE(device_.advance()) << "one part";
            }
            states.push_back(t.state()); // of the whole step
            EXPECT_EQ(full({3}, 2.0).to_vector<float>(), std::vector<float>(3, 2.0f));
        }
        return states;
    };
    EXPECT_TRUE(train(true) == train(false));
}

TEST_F(Slices, RecordOnceForAllSizes)
{
    Training t(Net::mlp);
    const Program step = step_of(t);
    const auto call = [&](std::int64_t n) {
        const auto [x, target] = t.batch(n, 1);
        step(x, target).item();
    };
    call(3);
    const Stats before = stats(device_);
    for (std::int64_t n = 1; n <= 10; ++n) call(n);
    const Stats after = stats(device_);
    EXPECT_EQ(after.recordings, before.recordings);
    EXPECT_EQ(after.pipelines, before.pipelines);
    EXPECT_EQ(after.plans, before.plans);
}

TEST_F(Slices, AreCancelledWithoutATrace)
{
    Training t(Net::mlp), undisturbed(Net::mlp);
    const Program step = step_of(t), other = step_of(undisturbed);
    const auto [x, target] = t.batch(4, 1);
    step(x, target);
    device_.synchronize();
    other(x, target);
    device_.synchronize();
    const Tensor begun = step(x, target), queued = step(x, target);
    device_.advance();
    EXPECT_FALSE(begun.is_ready());
    EXPECT_EQ(device_.cancel(), 2u);
    for (const Tensor& loss : {begun, queued}) {
        EXPECT_EQ(error_of([&] { loss.item(); }).kind, ErrorKind::cancelled);
        EXPECT_EQ(error_of([&] { static_cast<void>(loss.is_ready()); }).kind, ErrorKind::cancelled);
        EXPECT_EQ(error_of([&] { (loss + 1).item(); }).kind, ErrorKind::cancelled);
    }
    EXPECT_TRUE(t.state() == undisturbed.state());
    EXPECT_EQ(step(x, target).item<float>(), other(x, target).item<float>());
    EXPECT_TRUE(t.state() == undisturbed.state()) << "training goes on as if nothing had been";
}

TEST_F(Slices, AreCancelledAfterAFailedSubmission)
{
    Training t(Net::mlp), undisturbed(Net::mlp);
    const Program step = step_of(t), other = step_of(undisturbed);
    const auto [x, target] = t.batch(4, 1);
    const Tensor first = step(x, target), second = step(x, target);
    device::Device& inner = test::inner(device_);
    inner.fail_next("submit", 1, device::Device::Fault::out_of_memory);
    EXPECT_EQ(error_of([&] { device_.advance(); }).kind, ErrorKind::out_of_memory);
    EXPECT_EQ(device_.cancel(), 2u);
    EXPECT_EQ(error_of([&] { first.item(); }).kind, ErrorKind::cancelled);
    EXPECT_EQ(t.state(), undisturbed.state());
    step(x, target);
    other(x, target);
    finish();
    EXPECT_EQ(t.state(), undisturbed.state());
}

TEST_F(Slices, KeepInitialValuesAndInputs)
{
    manual_seed(1);
    Training t(Net::cnn); // its parameters and moments are not computed yet
    const Program step = step_of(t);
    const auto [x, target] = t.batch(4, 1);
    const Tensor doubled = x * 2, loss = step(doubled, target), after = doubled + 1;
    after.eval();
    device_.cancel();
    EXPECT_EQ(error_of([&] { loss.item(); }).kind, ErrorKind::cancelled);
    EXPECT_EQ(after.to_vector<float>(), (x * 2 + 1).to_vector<float>());
    manual_seed(1);
    Training fresh(Net::cnn);
    step_of(fresh);
    EXPECT_TRUE(t.state() == fresh.state()) << "before the first step";
}

TEST_F(Slices, KeepCallsThatEvaluationsRead)
{
    const auto twice = record([](const Tensor& in) { return in * 2; }, {spec({4})});
    const Tensor x = full({4}, 3.0), first = twice(x), y = twice(x);
    const Tensor z = y + x;
    z.eval();
    const Tensor last = twice(z), alias = twice(last);
    EXPECT_EQ(device_.cancel(), 2u);
    for (const Tensor& t : {last, alias})
        EXPECT_EQ(error_of([&] { t.to_vector<float>(); }).kind, ErrorKind::cancelled);
    EXPECT_EQ(error_of([&] { twice(last); }).kind, ErrorKind::cancelled);
    EXPECT_EQ(first.to_vector<float>(), std::vector<float>(4, 6.0f));
    EXPECT_EQ(z.to_vector<float>(), std::vector<float>(4, 9.0f));
}

// A result of a dropped call cannot be read through anything that shares its memory.
TEST_F(Slices, DropAliasesToo)
{
    const auto twice = record([](const Tensor& in) { return in * 2; }, {spec({4})});
    const auto reshaped = record([](const Tensor& in) { return in.reshape({2, 2}); }, {spec({4})});
    const auto both = record(
        [](const Tensor& in) {
            return std::vector{in.reshape({2, 2}), in + 1};
        },
        {spec({4})});
    const Tensor y = twice(full({4}, 3.0)), view = y.narrow(0, 1, 2), alias = reshaped(y);
    const std::vector<Tensor> with_launch = both(y);
    EXPECT_GE(device_.cancel(), 2u);
    for (const Tensor& t : {y, view, alias, alias + 1, with_launch[0], with_launch[1]})
        EXPECT_EQ(error_of([&] { t.to_vector<float>(); }).kind, ErrorKind::cancelled);
}

TEST_F(Slices, KeepStateThatACallHasComputed)
{
    const auto twice = record([](const Tensor& in) { return in * 2; }, {spec({4})});
    Variable w(twice(full({4}, 5.0)),
               false); // the program that updates it copies it first: that evaluation stays
    const auto add = record([&](const Tensor& in) { w.assign(w + in); }, {spec({4})});
    add(full({4}, 1.0));
    EXPECT_EQ(device_.cancel(), 1u);
    EXPECT_EQ(w.to_vector<float>(), std::vector<float>(4, 10.0f));
    add(full({4}, 1.0));
    EXPECT_EQ(w.to_vector<float>(), std::vector<float>(4, 11.0f));
}

TEST_F(Slices, GiveGradientsBack)
{
    Variable w(full({4}, 2.0), true);
    const auto backward = record(
        [&](const Tensor& in) {
            w.zero_grad();
            (w * in).sum().backward();
        },
        {spec({4})}, {.keep_grads = true});
    backward(full({4}, 3.0));
    device_.synchronize();
    backward(full({4}, 4.0));
    EXPECT_EQ(device_.cancel(), 1u);
    EXPECT_EQ(w.grad().to_vector<float>(), std::vector<float>(4, 3.0f));
    backward(full({4}, 5.0)); // an eager step on gradients of a program: the program's call stays
    optim::SGD sgd({w}, {.lr = 1});
    sgd.step();
    EXPECT_EQ(device_.cancel(), 0u);
    EXPECT_EQ(w.to_vector<float>(), std::vector<float>(4, -3.0f));
}

TEST_F(Slices, UndoHooks)
{
    int undoable = 0, plain = 0;
    const auto f = record(
        [&](const Tensor& in) {
            on_each_call([&] { ++undoable; }, [&] { --undoable; });
            on_each_call([&] { ++plain; });
            return in + 1;
        },
        {spec({4})});
    const Tensor x = full({4}, 1.0);
    f(x).eval();
    device_.synchronize();
    f(x);
    f(x);
    EXPECT_EQ(device_.cancel(), 2u);
    EXPECT_EQ(undoable, 1);
    EXPECT_EQ(plain, 3);
}

TEST_F(Slices, GiveRandomNumbersBack)
{
    const Program noise = record([](const Tensor& in) { return in + rand({64}); }, {spec({64})});
    const Tensor x = full({64}, 0.0);
    manual_seed(2);
    const std::vector<float> first = noise(x).to_vector<float>(), second = noise(x).to_vector<float>();
    manual_seed(2);
    EXPECT_EQ(noise(x).to_vector<float>(), first);
    noise(x);
    noise(x);
    EXPECT_EQ(device_.cancel(), 2u);
    EXPECT_EQ(noise(x).to_vector<float>(), second);
}

TEST_F(Slices, SayWhatIsReady)
{
    const Program twice = record([](const Tensor& in) { return in * 2; }, {spec({4})});
    const Tensor y = twice(full({4}, 3.0));
    EXPECT_FALSE(y.is_ready());
    finish();
    EXPECT_TRUE(y.is_ready());
    const Tensor pending = y + 1;
    EXPECT_FALSE(pending.is_ready()) << "nothing has asked for it";
    EXPECT_EQ(pending.to_vector<float>(), std::vector<float>(4, 7.0f));
    EXPECT_TRUE(pending.is_ready());
    EXPECT_TRUE(pending.narrow(0, 1, 2).is_ready()) << "a view";
}

// Reads a result of 2 MiB while calls are queued.
void expect_reads_before_what_is_queued(const Device& device)
{
    device.set_slice(1us);
    const Program twice = record([](const Tensor& in) { return in * 2; }, {spec({1 << 19})});
    const Tensor y = twice(full({1 << 19}, 3.0));
    device.synchronize();
    EXPECT_TRUE(y.is_ready());
    const Tensor eager = y + 1;
    EXPECT_EQ(eager.to_vector<float>(), std::vector<float>(1 << 19, 7.0f));
    std::vector<Tensor> queued;
    for (int i = 0; i < 4; ++i) queued.push_back(twice(y));
    EXPECT_EQ(y.to_vector<float>(), std::vector<float>(1 << 19, 6.0f));
    EXPECT_EQ(eager.to_vector<float>(), std::vector<float>(1 << 19, 7.0f));
    EXPECT_EQ(device.cancel(), 4u);
    EXPECT_EQ(twice(y).to_vector<float>(), std::vector<float>(1 << 19, 12.0f));
    device.set_slice(std::nullopt);
}

TEST_F(Slices, AreReadBeforeWhatIsQueued) { expect_reads_before_what_is_queued(device_); }

// After cancel(), calls go on at once: each ticket of a dropped call is signalled.
TEST_F(Slices, GoOnAfterCallsWereDropped)
{
    Training t(Net::mlp);
    const Program step = step_of(t);
    const auto [x, target] = t.batch(8, 1);
    step(x, target).item();
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 20; ++i) step(x, target); // more than fit
        EXPECT_GT(device_.cancel(), 0u);
        for (int i = 0; i < 40; ++i) step(x, target); // wait for calls that were dropped
    }
    EXPECT_TRUE(std::isfinite(step(x, target).item<float>()));
}

TEST_F(Slices, CancelAThreadThatWaits)
{
    Training t(Net::mlp);
    const Program step = step_of(t);
    const auto [x, target] = t.batch(8, 1);
    step(x, target).item();
    std::size_t dropped = 0;
    for (int attempt = 0; dropped == 0 && attempt < 100; ++attempt) { // the thread may be quicker
        std::vector<Tensor> losses;
        for (int i = 0; i < 8; ++i) losses.push_back(step(x, target));
        bool was_cancelled = false;
        std::thread waits([&] {
            try {
                losses.back().item();
            } catch (const Error& error) {
                was_cancelled = error.kind() == ErrorKind::cancelled;
            }
        });
        dropped = device_.cancel();
        waits.join();
        EXPECT_EQ(was_cancelled, dropped > 0) << "the last call is the first to be dropped";
    }
    EXPECT_GT(dropped, 0u);
    EXPECT_TRUE(std::isfinite(step(x, target).item<float>()));
}

// By a copy, as the host does not see the memory.
TEST(Slice, OfADiscreteDeviceIsReadBeforeWhatIsQueued)
{
    if (default_device().type() != kVulkan) GTEST_SKIP() << "slices are Vulkan's";
    const std::string id = default_device().name();
    device::reset(id);
    {
        const Device device = test::open(device::open(id, {.imitate_discrete = true}));
        const test::UseDevice use(device);
        const std::uint64_t before = test::inner(device).counters().transfers;
        expect_reads_before_what_is_queued(device);
        EXPECT_GE(test::inner(device).counters().transfers, before + 4);
    }
    reset_device(id);
}

TEST(Slice, IsPositive)
{
    EXPECT_EQ(error_of([] { default_device().set_slice(0ns); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([] { default_device().set_slice(-4ms); }).kind, ErrorKind::argument);
}

TEST(Slice, IsOfVulkan)
{
    const Device device = default_device();
    if (device.type() == kVulkan) EXPECT_NO_THROW(device.set_slice(4ms));
    else EXPECT_EQ(error_of([&] { device.set_slice(4ms); }).kind, ErrorKind::unsupported);
    EXPECT_EQ(device.slice_left(), 0ns);
    EXPECT_EQ(device.cancel(), 0u);
    EXPECT_NO_THROW(device.set_slice(std::nullopt));
}

} // namespace
} // namespace reprise
