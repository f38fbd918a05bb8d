// Threads that share managers, engines, layers, hooks and sums.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <reprise/autograd.hpp>
#include <reprise/checkpointing.hpp>
#include <reprise/nn.hpp>
#include <reprise/ops.hpp>

#include "support/devices.hpp"
#include "support/time_limit.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using Strategy = CheckpointConfig::Strategy;
using Tensors = std::vector<Tensor>;

constexpr int threads = 4, rounds = 3;

void in_threads(const std::function<void(int)>& run)
{
    const test::TimeLimit limit(std::chrono::seconds(100));
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t) running.emplace_back([&, t] { run(t); });
    for (std::thread& t : running) t.join();
}

struct Shared {
    Variable w{test::random_tensor({8, 8}, 1, -0.5, 0.5)};
    Tensor x = test::random_tensor({4, 8}, 2);
    Tensor f(const Tensor& in) const { return tanh(matmul(in, w)); }
};

// What one thread has of the plain API: the layer's values, and the sums.  All gradients are equal, so the
// order of adding them does not count.
std::vector<test::Bits> alone()
{
    const Shared s;
    const Tensor g = grad(sum(s.f(s.f(s.x))), s.w);
    const auto times = [&](int count) {
        Tensor sum = g;
        for (int i = 1; i < count; ++i) sum = sum + g;
        return test::bits(sum);
    };
    std::vector<test::Bits> out{test::bits(s.f(s.x))};
    for (int t = 0; t < threads; ++t) out.push_back(times(rounds)); // by the threads' names
    out.push_back(times(threads * rounds));                         // "all"
    return out;
}

// All classes at once: shared layers, own layers, own contexts, hooks that come and go, sums.
std::vector<test::Bits> share()
{
    const Shared given;
    const Variable& w = given.w;
    const Tensor& x = given.x;
    eval({w, x});
    const auto manager = std::make_shared<CheckpointManager>();
    const auto engine = std::make_shared<RecomputationEngine>();
    BackwardHookManager hooks;
    std::atomic<int> hooked = 0;
    hooks.register_hook("shared", [&](const Tensor&) {
        ++hooked;
        return Tensor();
    });
    const TracedFunction f = [&](const Tensors& in) { return Tensors{given.f(in[0])}; };
    const CheckpointFunction shared("shared", f, manager, engine,
                                    [&](const Tensor& g) { return hooks.invoke("shared", g); });
    CheckpointedGradientAccumulator sums(threads * rounds);
    in_threads([&](int t) {
        const std::string name = std::to_string(t);
        for (int i = 0; i < rounds; ++i) {
            CheckpointContext context({.strategy = (t + i) % 2 ? Strategy::all : Strategy::none});
            context.enter();
            const CheckpointFunction own(name, f, manager, engine, nullptr, true);
            const auto handle = hooks.register_hook(name, [](const Tensor& g) { return g; });
            const Tensor loss = sum(shared(own(x)));
            manager->keep(name, {x});
            EXPECT_EQ(manager->retrieve(name).size(), 1u);
            const Tensor g = grad(loss, w);
            EXPECT_TRUE(hooks.remove(handle));
            EXPECT_EQ(engine->recompute("shared", {x}).size(), 1u);
            static_cast<void>(manager->statistics());
            static_cast<void>(engine->statistics());
            manager->measure();
            sums.accumulate({{"all", g}, {name, g}});
            static_cast<void>(sums.should_apply_gradients());
            EXPECT_EQ(CheckpointContext::current(), context.config());
            context.exit();
        }
    });
    EXPECT_EQ(hooked, threads * rounds);
    EXPECT_EQ(hooks.size(), 1u);
    const CheckpointStatistics s = manager->statistics();
    EXPECT_EQ(s.checkpointed + s.plain, 2u * threads * rounds);
    EXPECT_EQ(s.layers, 1u);
    const RecomputationStatistics r = engine->statistics();
    EXPECT_EQ(r.recomputations, 1u * threads * rounds);
    EXPECT_GE(r.recordings, 1u);
    EXPECT_LE(r.recordings, 1u * threads); // those that were the first at once
    EXPECT_EQ(r.programs, 1u);
    EXPECT_EQ(sums.count("all"), threads * rounds);
    std::vector<test::Bits> out{test::bits(engine->recompute("shared", {x})[0])};
    for (const auto& [name, sum] : sums.get_accumulated_gradients()) out.push_back(test::bits(sum));
    return out;
}

TEST(CheckpointingThreads, ShareEverything) { EXPECT_EQ(share(), alone()); }

TEST(CheckpointingThreads, ShareEverythingOnTheNullDevice)
{
    const test::UseDevice use(test::imitation("gpu"));
    share();
}

// Another thread's evaluation of its many pending nodes leaves the nodes of this thread's segments alone: the thread
// sanitizer sees where it does not.
TEST(CheckpointingThreads, ManyPendingNodesOfOthersTouchNoSegment)
{
    const test::TimeLimit limit(std::chrono::seconds(100));
    const Shared s;
    eval({s.w, s.x});
    const test::Bits want = test::bits(grad(sum(s.f(s.f(s.x))), s.w));
    std::atomic<bool> stop{false};
    std::thread other([&] {
        while (!stop) {
            Tensor t = ones({1});
            Tensors held;
            for (int i = 0; i < 5000; ++i)
                held.push_back(t = t + 1); // more than Context::appended() lets wait
        }
    });
    for (int i = 0; i < 20; ++i) {
        const auto block = [&](const Tensor& in) { return s.f(s.f(in)); };
        EXPECT_EQ(test::bits(grad(sum(checkpoint(block, s.x)), s.w)), want);
    }
    stop = true;
    other.join();
}

// Layers, hooks and sums that go, and all that may be asked meanwhile.
void come_and_go(bool values)
{
    const Shared given;
    const Tensor& x = given.x;
    eval({given.w, x});
    const auto manager = std::make_shared<CheckpointManager>();
    const auto engine = std::make_shared<RecomputationEngine>();
    const TracedFunction f = [&](const Tensors& in) { return Tensors{given.f(in[0])}; };
    const CheckpointFunction shared("shared", f, manager, engine, nullptr, true);
    nn::Linear linear(8, 8);
    const auto bits_of = [&](const Tensor& t) { return values ? test::bits(t) : test::Bits(); };
    const auto want = bits_of(grad(sum(linear(given.f(x))), given.w)), inside = bits_of(given.f(x));
    BackwardHookManager hooks;
    CheckpointedGradientAccumulator sums(1);
    const std::size_t before = Checkpoint::default_manager()->layers().size();
    in_threads([&](int t) {
        const std::string name = "thread " + std::to_string(t);
        const MemoryTracker tracker;
        for (int i = 0; i < 3 * rounds; ++i) {
            manager->set_config({.strategy = (t + i) % 2 ? Strategy::all : Strategy::none});
            static_cast<void>(manager->config());
            EXPECT_EQ(manager->layers(), std::vector<std::string>{"shared"});
            EXPECT_TRUE(manager->contains("shared"));
            static_cast<void>(manager->checkpoint_options("shared"));
            static_cast<void>(manager->bytes("shared"));
            {
                const CheckpointFunction own =
                    Checkpoint::checkpoint_function(name, f, {.keep_inputs = true});
                const CheckpointFunction module = Checkpoint::checkpoint_module(name + "'s", linear);
                const Tensor y = own(x), loss = sum(module(y));
                EXPECT_EQ(bits_of(own.recompute()[0]), inside);
                sums.accumulate({{name, grad(loss, given.w)}});
                for (const auto& [whose, sum] : sums.get_accumulated_gradients())
                    if (whose == name) {
                        EXPECT_EQ(bits_of(sum), want);
                    }
            }
            const Tensor y = shared(x);
            y.eval();
            static_cast<void>(tracker.current() + tracker.peak() + tracker.saved("shared"));
            static_cast<void>(tracker.layers().size() + tracker.saved_by_layer().size());
            tracker.reset_peak();
            try { // of the newest call of all threads, if it is still kept
                EXPECT_EQ(bits_of(shared.recompute()[0]), inside);
            } catch (const Error& e) {
                EXPECT_EQ(e.kind(), ErrorKind::state);
            }
            if (i % 3 == 0) manager->release("shared");
            if (i % 3 == 1) manager->clear();
            hooks.register_hook(name, [](const Tensor& g) { return g * 1; });
            EXPECT_EQ(bits_of(hooks.invoke(name, x)), bits_of(x));
            hooks.remove_layer(name);
            hooks.register_hook("all", [](const Tensor& g) { return g; });
            if (i % 3 == 2) hooks.clear();
            if (i % 2) sums.remove(name);
            else sums.reset();
        }
    });
    hooks.clear();
    EXPECT_EQ(hooks.size(), 0u);
    sums.reset();
    EXPECT_TRUE(sums.get_accumulated_gradients().empty());
    EXPECT_EQ(Checkpoint::default_manager()->layers().size(), before);
}

TEST(CheckpointingThreads, ComeAndGo) { come_and_go(true); }

TEST(CheckpointingThreads, ComeAndGoOnTheNullDevice)
{
    const test::UseDevice use(test::imitation("gpu"));
    come_and_go(false);
}

// Backward passes of one graph on several threads.
TEST(CheckpointingThreads, ShareALayersGraph)
{
    const Variable w(test::random_tensor({8, 8}, 1, -0.5, 0.5));
    const auto manager = std::make_shared<CheckpointManager>();
    std::atomic<int> hooked = 0;
    const CheckpointFunction f(
        "f", [&](const Tensors& in) { return Tensors{exp(in[0] * w)}; }, manager,
        std::make_shared<RecomputationEngine>(),
        [&](const Tensor&) {
            ++hooked;
            return Tensor();
        });
    const Tensor loss = sum(f(w));
    const auto want = test::bits(loss.gradients({.retain_graph = true}).get(w));
    std::atomic<int> right = 0;
    in_threads([&](int) { right += test::bits(loss.gradients({.retain_graph = true}).get(w)) == want; });
    EXPECT_EQ(right, threads);
    EXPECT_EQ(hooked, threads + 1);
}

TEST(CheckpointingThreads, LoseNoSum)
{
    constexpr int each = 400;
    const Tensor one = from_vector({1});
    CheckpointedGradientAccumulator sums(threads * each);
    in_threads([&](int) {
        for (int i = 0; i < each; ++i) sums.accumulate("sum", one);
    });
    EXPECT_TRUE(sums.should_apply_gradients());
    EXPECT_EQ(sums.get_accumulated_gradients().at("sum").item<float>(), threads * each);
}

// Whoever takes the sums has whole steps, and each once.
TEST(CheckpointingThreads, TakeWholeSteps)
{
    constexpr int each = 50;
    const Tensor one = from_vector({1});
    CheckpointedGradientAccumulator sums(1);
    std::atomic<int> taken = 0;
    in_threads([&](int t) {
        for (int i = 0; i < each; ++i) {
            sums.accumulate({{"a", one}, {"b", one}});
            if (t % 2 == 0) continue;
            const auto found = sums.get_accumulated_gradients_and_reset();
            if (found.empty()) continue;
            const float a = found.at("a").item<float>();
            EXPECT_EQ(found.at("b").item<float>(), a);
            taken += static_cast<int>(a);
        }
    });
    for (const auto& [name, sum] : sums.get_accumulated_gradients())
        if (name == "a") taken += static_cast<int>(sum.item<float>());
    EXPECT_EQ(taken, threads * each);
}

// Nothing is locked while a layer's function runs: it waits here until all threads are in it.
TEST(CheckpointingThreads, RunFunctionsAtTheSameTime)
{
    std::atomic<int> inside = 0;
    const auto together = [&](const Tensors& in) {
        ++inside;
        while (inside % threads != 0) std::this_thread::yield();
        return Tensors{in[0] * 2};
    };
    const auto manager = std::make_shared<CheckpointManager>();
    const auto engine = std::make_shared<RecomputationEngine>();
    const CheckpointFunction f("f", together, manager, engine);
    in_threads([&](int) { EXPECT_EQ(f(from_vector({1})).item<float>(), 2); });
    inside = 0;
    in_threads([&](int) { EXPECT_EQ(engine->recompute("f", {from_vector({1})})[0].item<float>(), 2); });
    BackwardHookManager hooks;
    inside = 0;
    hooks.register_hook("f", [&](const Tensor& g) { return together({g})[0]; });
    in_threads([&](int) { EXPECT_EQ(hooks.invoke("f", from_vector({1})).item<float>(), 2); });
}

} // namespace
} // namespace reprise
