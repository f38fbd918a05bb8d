// Layers whose hooks, functions and backward passes are the user's: what they see, and what stays where they throw.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <reprise/autograd.hpp>
#include <reprise/checkpointing.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "checkpointing/layers.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using Strategy = CheckpointConfig::Strategy;
using test::bits;
using test::CheckpointFunctions;
using test::random_tensor;
using test::square_twice;
using testing::ElementsAre;
using Tensors = std::vector<Tensor>;

TEST_F(CheckpointFunctions, RunTheirHookOnceForEachOutput)
{
    const Variable w(random_tensor({3}, 1));
    std::vector<Tensor> seen;
    const auto f = layer(
        "f",
        [](const Tensors& in) {
            return Tensors{sin(in[0]), cast(in[0], i32), cos(in[0]), exp(in[0])};
        },
        [&](const Tensor& g) {
            seen.push_back(g);
            return g * 2;
        });
    const auto loss = [](const Tensors& y) { return sum(y[0] * y[0] + y[2] * 3); }; // y[3] is not used
    for (const Strategy strategy : {Strategy::all, Strategy::none}) {
        manager->set_config({.strategy = strategy});
        seen.clear();
        const Tensor got = grad(loss(f.call({w})), w);
        const Tensor s = sin(w), c = cos(w);
        ASSERT_EQ(seen.size(), 2u);
        EXPECT_EQ(bits(seen[0]), bits(ones_like(c) * 3)); // the newest node first
        const Tensor by_sin = seen[1];
        s.register_hook([&](const Tensor& g) {
            EXPECT_EQ(bits(by_sin), bits(g));
            return g * 2;
        });
        c.register_hook([](const Tensor& g) { return g * 2; });
        EXPECT_EQ(bits(got), bits(grad(loss({s, s, c}), w)));
    }
}

// A hook at what the function passes through sees no other reader's gradient, and does not stay.
TEST_F(CheckpointFunctions, HookTensorsThatArePassedThrough)
{
    Variable w(from_vector({1, 2}));
    std::vector<float> seen;
    const auto f = layer(
        "f",
        [](const Tensors& in) {
            return Tensors{in[0], in[0]};
        },
        [&](const Tensor& g) {
            seen.push_back(g.to_vector<float>()[0]);
            return Tensor();
        });
    const Tensors y = f.call({w});
    sum(y[0] * 2 + y[1] * 3 + w * 10).backward();
    EXPECT_THAT(seen, testing::UnorderedElementsAre(2, 3));
    EXPECT_THAT(w.grad().to_vector<float>(), ElementsAre(15, 15));
    sum(w * w).backward();
    EXPECT_EQ(seen.size(), 2u);
}

// What the function has from outside has other readers, and lives on.
TEST_F(CheckpointFunctions, HookTensorsFromOutside)
{
    Variable w(from_vector({1, 2}));
    const Tensor h = sin(w);
    std::vector<float> seen;
    const auto f = layer(
        "f", [h](const Tensors&) { return Tensors{h}; },
        [&](const Tensor& g) {
            seen.push_back(g.to_vector<float>()[0]);
            return g * 2;
        });
    for (int i = 0; i < 2; ++i) {
        const Tensor loss = sum(f(w)) + sum(h) * 10;
        EXPECT_EQ(bits(grad(loss, w, {.retain_graph = true})),
                  bits(grad(sum(h * 12), w, {.retain_graph = true})));
    }
    EXPECT_THAT(seen, ElementsAre(1, 1));
}

TEST_F(CheckpointFunctions, LeaveHooksCustomFunctionsAndKeptGradients)
{
    int forward = 0, backward = 0, hooked = 0;
    const CustomFunction cube(
        "cube",
        [&](FunctionContext& c, const Tensors& in) {
            ++forward;
            const Tensor squared = in[0] * in[0];
            c.save_for_backward({in[0], squared});
            return Tensors{squared * in[0]};
        },
        [&](const FunctionContext& c, const Tensors& dy) {
            ++backward;
            return Tensors{dy[0] * c.saved(1) * 3};
        });
    Tensor inner;
    const TracedFunction f = [&](const Tensors& in) {
        inner = sin(in[0]);
        inner.register_hook([&](const Tensor& g) {
            ++hooked;
            return g * 2;
        });
        inner.retain_grad();
        return Tensors{cube(inner) * inner};
    };
    const auto run = [&](const auto& call) {
        forward = backward = hooked = 0;
        Variable w(from_vector({1, 2}));
        const Tensor y = call(Tensors{w})[0];
        y.retain_grad();
        sum(y * y).backward();
        EXPECT_EQ(forward, 1);
        EXPECT_EQ(backward, 1);
        EXPECT_EQ(hooked, 1);
        return std::vector{bits(w.grad()), bits(inner.grad()), bits(y.grad()), bits(inner)};
    };
    const auto want = run(f);
    const auto checkpointed = layer("f", f, [](const Tensor&) { return Tensor(); });
    EXPECT_EQ(run([&](const Tensors& in) { return checkpointed.call(in); }), want);
}

// Two layers, one inside of a third; eager and recorded at two sizes, with and without contexts.
TEST_F(CheckpointFunctions, ShowTheirHooksThePlainGradientsInPrograms)
{
    const Variable w(random_tensor({4, 4}, 1));
    Tensors seen;
    const auto hook = [&](const Tensor& g) {
        seen.push_back(g);
        return g * 2;
    };
    const TracedFunction f = [&](const Tensors& in) { return Tensors{tanh(matmul(in[0], w))}; };
    const auto hooked = [&](const Tensors& in) {
        const Tensor y = f(in)[0];
        y.register_hook(hook);
        return Tensors{y};
    };
    const auto first = layer("first", f, hook), inner = layer("inner", f, hook),
               outer = layer("outer", [&](const Tensors&in) { return inner.call(f(in)); });
    const auto step = [&](const auto& call) {
        return [&, call](const Tensors& in) {
            seen.clear();
            const Tensor g = grad(sum(square(call(in))), w);
            Tensors out = std::exchange(seen, {});
            out.push_back(g);
            return out;
        };
    };
    const auto plain = step([&](const Tensors& in) { return hooked(f(hooked(in)))[0]; });
    const auto layered = step([&](const Tensors& in) { return outer(first.call(in)[0]); });
    for (const Strategy strategy : {Strategy::all, Strategy::every_kth, Strategy::none}) {
        CheckpointContext none({.strategy = Strategy::none}), context({.strategy = strategy, .every = 2});
        none.enter();
        context.enter();
        const Program program = record_function(layered, {spec({symbol("n"), 4})});
        for (const std::int64_t n : {3, 1}) {
            const Tensors in{random_tensor({n, 4}, 2)}, want = plain(in), eager = layered(in),
                                                        recorded = program.call(in);
            ASSERT_EQ(want.size(), 3u);
            ASSERT_EQ(eager.size(), 3u);
            ASSERT_EQ(recorded.size(), 3u);
            for (std::size_t i = 0; i < want.size(); ++i) {
                EXPECT_EQ(bits(eager[i]), bits(want[i])) << i;
                EXPECT_EQ(bits(recorded[i]), bits(want[i])) << i;
            }
        }
        context.exit();
        none.exit();
    }
}

// Those of a manager, in the order in which they came, at a layer inside of a layer.
TEST_F(CheckpointFunctions, GoThroughTheHooksOfAManagerInOrder)
{
    const Variable w(from_vector({0.5F, 2}));
    BackwardHookManager hooks;
    std::string order;
    for (const char* name : {"a", "b", "c"})
        hooks.register_hook("inner", [&order, name](const Tensor& g) {
            order += name;
            return *name == 'b' ? Tensor() : g * 2;
        });
    const auto inner = layer("inner", square_twice, [&](const Tensor&g) { return hooks.invoke("inner", g); }),
               outer = layer("outer", [&](const Tensors&in) { return Tensors{inner(in[0]) * 3}; });
    const Tensor got = grad(sum(outer(w)), w);
    EXPECT_EQ(order, "abc");
    const Tensor y = square_twice({w})[0];
    y.register_hook([](const Tensor& g) { return g * 4; });
    EXPECT_EQ(bits(got), bits(grad(sum(y * 3), w)));
}

// ---- exceptions ----

// While a program is recorded: nothing stays open or counted, and the next recording is as if there had been none.
TEST_F(CheckpointFunctions, LeaveFiguresAsTheyWereWhereUserCodeThrowsInARecording)
{
    enum class Where { nowhere, function, hook, backward } where = Where::nowhere;
    const auto at = [&](Where here) {
        CheckpointContext inside({.strategy = Strategy::none});
        inside.enter();
        if (where == here) throw std::runtime_error("of the user");
    };
    const CustomFunction twice(
        "twice", [](FunctionContext&, const Tensors& in) { return Tensors{in[0] * 2}; },
        [&](const FunctionContext&, const Tensors& dy) {
            at(Where::backward);
            return Tensors{dy[0] * 2};
        });
    const auto f = layer(
        "f",
        [&](const Tensors& in) {
            at(Where::function);
            return Tensors{twice(sin(in[0]))};
        },
        [&](const Tensor&) {
            at(Where::hook);
            return Tensor();
        });
    const auto gradient = [&](const Tensors& in) {
        Tensor x = in[0].detach();
        x.requires_grad_();
        return Tensors{grad(sum(f(x)), x)};
    };
    const auto figures = [&] {
        const CheckpointStatistics s = manager->statistics();
        const RecomputationStatistics r = engine->statistics();
        return std::vector<std::uint64_t>{
            s.keeping,    s.bytes_kept, s.bytes_saved,          r.recomputations,
            r.recordings, r.programs,   MemoryTracker().saved()};
    };
    CheckpointContext outer({.strategy = Strategy::every_kth});
    outer.enter();
    const auto before = figures();
    for (const Where here : {Where::function, Where::hook, Where::backward}) {
        where = here;
        EXPECT_THROW(record_function(gradient, {spec({symbol("n")})}), std::runtime_error);
        EXPECT_EQ(figures(), before);
        EXPECT_FALSE(is_checkpointing());
        EXPECT_EQ(recording_id(), 0u);
        EXPECT_EQ(CheckpointContext::current(), outer.config());
    }
    where = Where::nowhere;
    const Program program = record_function(gradient, {spec({symbol("n")})});
    const Tensor x = random_tensor({5}, 1);
    EXPECT_EQ(bits(program.call({x})[0]), bits(cos(x) * 2));
    outer.exit();
}

TEST_F(CheckpointFunctions, LeaveFiguresAsTheyWereWhereUserCodeThrows)
{
    enum class Where { nowhere, function, hook, backward } where = Where::nowhere;
    const auto at = [&](Where here) {
        if (where == here) throw std::runtime_error("of the user");
    };
    const CustomFunction twice(
        "twice", [](FunctionContext&, const Tensors& in) { return Tensors{in[0] * 2}; },
        [&](const FunctionContext&, const Tensors& dy) {
            at(Where::backward);
            return Tensors{dy[0] * 2};
        });
    const auto f = layer(
        "f",
        [&](const Tensors& in) {
            const Tensor y = twice(sin(in[0]) * in[0]);
            at(Where::function);
            return Tensors{y};
        },
        [&](const Tensor&) {
            at(Where::hook);
            return Tensor();
        });
    const Variable w(from_vector({1, 2}));
    const auto figures = [&] {
        const CheckpointStatistics s = manager->statistics();
        const RecomputationStatistics r = engine->statistics();
        return std::vector<std::uint64_t>{s.checkpointed, s.plain,       s.keeping,
                                          s.bytes_kept,   s.bytes_saved, r.recomputations,
                                          r.recordings,   r.programs,    MemoryTracker().saved()};
    };
    auto before = figures();
    where = Where::function;
    EXPECT_THROW(f(w), std::runtime_error);
    EXPECT_FALSE(is_checkpointing());
    EXPECT_EQ(figures(), before);
    where = Where::hook;
    const Tensor loss = sum(f(w));
    loss.eval();
    before = figures();
    EXPECT_GT(before[4], 0u); // bytes saved
    EXPECT_THROW(loss.backward(), std::runtime_error);
    EXPECT_FALSE(is_checkpointing());
    EXPECT_EQ(figures(), before);
    where = Where::backward;
    EXPECT_THROW(loss.backward(), std::runtime_error);
    EXPECT_EQ(figures(), before);
    EXPECT_EQ(f.recompute().size(), 1u);
    EXPECT_FALSE(w.grad().defined());
    where = Where::nowhere;
    loss.backward(); // the graph is as it was
    EXPECT_EQ(bits(w.grad()), bits(grad(sum(twice(sin(w) * w)), w)));
    EXPECT_EQ(manager->statistics().keeping, 0u);
}

TEST_F(CheckpointFunctions, LeaveContextsClosedWhereTheFunctionThrows)
{
    const auto f = layer("f", [](const Tensors& in) {
        CheckpointContext inner({.strategy = Strategy::none});
        inner.enter();
        if (in[0].dim() == 1) throw std::runtime_error("of the user");
        return in;
    });
    CheckpointContext outer({.strategy = Strategy::every_kth});
    outer.enter();
    EXPECT_THROW(f(from_vector({1})), std::runtime_error);
    EXPECT_EQ(CheckpointContext::current(), outer.config());
    outer.exit();
}

// A context that outlives the call, such as a module's, and others that were closed meanwhile.
TEST_F(CheckpointFunctions, CloseContextsThatTheFunctionLeftOpen)
{
    CheckpointContext outer({.strategy = Strategy::every_kth}), of_module({.strategy = Strategy::selective});
    auto closed = std::make_unique<CheckpointContext>(CheckpointConfig{});
    bool throws = true;
    const auto f = layer("f", [&](const Tensors& in) {
        of_module.enter();
        std::thread([&] { closed.reset(); }).join();
        if (throws) throw std::runtime_error("of the user");
        return in;
    });
    outer.enter();
    closed->enter();
    EXPECT_THROW(f(from_vector({1})), std::runtime_error);
    EXPECT_FALSE(of_module.is_enabled());
    EXPECT_EQ(CheckpointContext::current(), outer.config());
    throws = false;
    f(from_vector({1}));
    EXPECT_EQ(CheckpointContext::current(), of_module.config()); // as it says
    of_module.exit();
    outer.exit();
}

} // namespace
} // namespace reprise
