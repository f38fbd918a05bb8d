// Layers: what their calls give, hooks, registration, mistakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <reprise/autograd.hpp>
#include <reprise/checkpointing.hpp>
#include <reprise/memory.hpp>
#include <reprise/nn.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using Strategy = CheckpointConfig::Strategy;
using test::bits;
using test::random_tensor;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Tensors = std::vector<Tensor>;

struct CheckpointFunctions : testing::Test {
    std::shared_ptr<CheckpointManager> manager = std::make_shared<CheckpointManager>();
    std::shared_ptr<RecomputationEngine> engine = std::make_shared<RecomputationEngine>();

    CheckpointFunction layer(const std::string& id, TracedFunction f,
                             CheckpointFunction::BackwardHook hook = nullptr)
    {
        return {id, std::move(f), manager, engine, std::move(hook), true};
    }
};

Tensors square_twice(const Tensors& in) { return {exp(sin(in[0]) * cos(in[0]))}; }

TEST_F(CheckpointFunctions, CallTheFunctionOnce)
{
    int calls = 0;
    const auto f = layer("f", [&](const Tensors& in) {
        ++calls;
        EXPECT_EQ(is_checkpointing(), grad_enabled() && manager->should_checkpoint("f"));
        return square_twice(in);
    });
    const Variable w(from_vector({1, 2, 3}));
    for (const Strategy strategy : {Strategy::all, Strategy::none}) {
        calls = 0;
        manager->set_config({.strategy = strategy});
        EXPECT_EQ(bits(grad(sum(f(w)), w)), bits(grad(sum(square_twice({w})[0]), w)));
        EXPECT_EQ(calls, 1);
    }
    EXPECT_EQ(manager->statistics().checkpointed, 1u);
    EXPECT_EQ(manager->statistics().plain, 1u);
    {
        const no_grad off;
        manager->set_config({});
        EXPECT_EQ(bits(f.call({w})[0]), bits(square_twice({w})[0]));
    }
    EXPECT_EQ(manager->statistics().plain, 2u);
}

TEST_F(CheckpointFunctions, AreRegisteredWhileACopyLives)
{
    std::optional<CheckpointFunction> f = layer("f", square_twice), copy = f;
    EXPECT_EQ(f->id(), "f");
    EXPECT_EQ(f->manager(), manager);
    EXPECT_EQ(f->engine(), engine);
    EXPECT_THAT(manager->layers(), ElementsAre("f"));
    EXPECT_TRUE(engine->contains("f"));
    f.reset();
    EXPECT_TRUE(manager->contains("f"));
    const Variable w(from_vector({1, 2}));
    const Tensor y = (*copy)(w);
    copy.reset();
    EXPECT_FALSE(manager->contains("f"));
    EXPECT_FALSE(engine->contains("f"));
    sum(y).backward(); // needs no layer
    EXPECT_EQ(bits(w.grad()), bits(grad(sum(square_twice({w})[0]), w)));
    EXPECT_EQ(manager.use_count(), 1);
}

// Such as where its registration was removed by hand and the id given to another.
TEST_F(CheckpointFunctions, RemoveTheirOwnRegistrationOnly)
{
    std::optional<CheckpointFunction> a = layer("f", square_twice);
    manager->remove_layer("f");
    engine->remove_function("f");
    const auto b = layer("f", square_twice);
    a.reset();
    EXPECT_TRUE(manager->contains("f"));
    EXPECT_TRUE(engine->contains("f"));
}

TEST_F(CheckpointFunctions, RefuseWhatTheyCannotBe)
{
    const auto refused = [](const auto& make) {
        const Caught error = error_of([&] { return make().id(); });
        EXPECT_EQ(error.kind, ErrorKind::argument);
        return error.text;
    };
    EXPECT_THAT(refused([&] { return layer("f", nullptr); }), HasSubstr("The function is null"));
    EXPECT_THAT(refused([&] { return layer("", square_twice); }), HasSubstr("id is empty"));
    EXPECT_THAT(refused([&] { return CheckpointFunction("f", square_twice, nullptr, engine); }),
                HasSubstr("[CheckpointFunction] The manager of the layer (f) is a null pointer"));
    EXPECT_THAT(refused([&] { return CheckpointFunction("f", square_twice, manager, nullptr); }),
                HasSubstr("The engine of the layer (f)"));
    EXPECT_THAT(refused([] { return Checkpoint::checkpoint_module("f", nullptr); }),
                HasSubstr("The module of the layer (f) is a null pointer"));
    EXPECT_THAT(manager->layers(), IsEmpty());
    const auto f = layer("f", square_twice);
    EXPECT_THAT(refused([&] { return layer("f", square_twice); }), HasSubstr("(f) is registered already"));
    EXPECT_TRUE(manager->contains("f")); // the first one is
    EXPECT_TRUE(engine->contains("f"));
    engine->register_function("g", square_twice);
    EXPECT_THAT(refused([&] { return layer("g", square_twice); }), HasSubstr("(g) is registered already"));
    EXPECT_FALSE(manager->contains("g"));
}

// The manager has the inputs as long as the backward pass is ahead.
TEST_F(CheckpointFunctions, LeaveTheirInputsWithTheManager)
{
    const auto f = layer("f", square_twice);
    const Variable w(from_vector({1, 2, 3}));
    {
        const Tensor y = f(w);
        EXPECT_EQ(bits(manager->retrieve("f").at(0)), bits(w));
        EXPECT_EQ(manager->statistics().bytes_kept, 12u);
        EXPECT_EQ(bits(f.recompute().at(0)), bits(y));
        sum(y).backward();
        EXPECT_EQ(error_of([&] { return f.recompute(); }).kind, ErrorKind::state);
    }
    {
        const Tensor y = f(w);
        EXPECT_EQ(manager->statistics().keeping, 1u);
    }
    EXPECT_EQ(manager->statistics().keeping, 0u); // the graph is gone
    manager->set_config({.strategy = Strategy::none});
    const Tensor y = f(w);
    EXPECT_EQ(manager->statistics().keeping, 0u);
    EXPECT_EQ(engine->statistics().recomputations, 1u);
}

TEST_F(CheckpointFunctions, LeaveTheirInputsUntilTheTapeIsReleased)
{
    const auto f = layer("f", square_twice);
    const Variable w(from_vector({1, 2, 3})), other(from_vector({1}));
    const Tensor y = f(w), loss = sum(y) * other;
    loss.backward({}, {.retain_graph = true});
    EXPECT_EQ(bits(f.recompute().at(0)), bits(y));
    static_cast<void>(grad(loss, other)); // does not come by
    EXPECT_EQ(manager->statistics().bytes_kept, 12u);
    sum(y).backward();
    EXPECT_EQ(manager->statistics().keeping, 0u);
}

TEST_F(CheckpointFunctions, KeepNothingUnlessTheyAreAskedTo)
{
    const CheckpointFunction f("f", square_twice, manager, engine);
    const Variable w(from_vector({1, 2, 3}));
    const Tensor y = f(w);
    EXPECT_EQ(manager->statistics().checkpointed, 1u);
    EXPECT_EQ(manager->statistics().keeping, 0u);
    const Caught error = error_of([&] { return f.recompute(); });
    EXPECT_EQ(error.kind, ErrorKind::state);
    EXPECT_THAT(error.text, HasSubstr("keep_inputs"));
}

// The newest call's inputs are all that there is, for the manager and in memory.
TEST_F(CheckpointFunctions, KeepTheInputsOfTheirNewestCall)
{
    const auto cell = layer("cell", [](const Tensors& in) { return Tensors{in[0] * 2}; });
    const Variable w(random_tensor({64, 64}, 1));
    w.eval();
    const std::uint64_t before = MemoryTracker().current();
    Tensor h = w;
    for (int i = 0; i < 8; ++i) h = cell(h);
    const Tensor loss = sum(h);
    h = Tensor();
    loss.eval();
    EXPECT_EQ(manager->statistics().keeping, 1u);
    EXPECT_EQ(manager->statistics().bytes_kept, 64u * 64 * 4);
    manager->clear();
    EXPECT_EQ(manager->statistics().keeping, 0u);
    EXPECT_LT(MemoryTracker().current(), before + 2 * 64 * 64 * 4); // the tape still has that input
}

TEST_F(CheckpointFunctions, ArePlainWhereCheckpointsAreOff)
{
    const auto f = layer("f", square_twice);
    const Variable w(from_vector({1, 2, 3}));
    EXPECT_TRUE(checkpoint_mode());
    const Tensor y = with_checkpoint_mode(false, [&] {
        EXPECT_FALSE(checkpoint_mode());
        return f(w);
    });
    EXPECT_EQ(manager->statistics().checkpointed, 0u);
    EXPECT_EQ(manager->statistics().plain, 1u);
    EXPECT_EQ(manager->statistics().keeping, 0u);
    EXPECT_EQ(bits(grad(sum(y), w)), bits(grad(sum(square_twice({w})[0]), w)));
}

TEST_F(CheckpointFunctions, TakeThePlaceOfWhatWasKept)
{
    const auto f = layer("f", square_twice);
    const Variable w(from_vector({1, 2, 3}));
    const std::uint64_t before = MemoryTracker().current();
    manager->keep("f", {zeros({64, 64}).detach()});
    manager->retrieve("f")[0].eval();
    EXPECT_GT(MemoryTracker().current(), before);
    {
        const Tensor y = f(w);
        EXPECT_EQ(MemoryTracker().current(), before);
        EXPECT_EQ(bits(manager->retrieve("f").at(0)), bits(w));
    }
    manager->keep("f", {w});
    const Tensor constant = f(w.detach()); // has no backward pass
    EXPECT_EQ(bits(manager->retrieve("f").at(0)), bits(w));
}

// Inputs that a function can do without, and outputs that it leaves out.
TEST_F(CheckpointFunctions, PassUndefinedTensorsOn)
{
    const auto f = layer(
        "f",
        [](const Tensors& in) {
            return Tensors{in[1].defined() ? in[0] * in[1] : sin(in[0]), Tensor()};
        },
        [](const Tensor&) { return Tensor(); });
    const Variable w(from_vector({1, 2, 3}));
    const Tensors y = f.call({w, Tensor()});
    EXPECT_FALSE(y[1].defined());
    const Tensors again = f.recompute();
    ASSERT_EQ(again.size(), 2u);
    EXPECT_EQ(bits(again[0]), bits(sin(w)));
    EXPECT_FALSE(again[1].defined());
    EXPECT_EQ(bits(grad(sum(y[0]), w)), bits(grad(sum(sin(w)), w)));
}

TEST_F(CheckpointFunctions, MayGiveNothing)
{
    const auto f = layer("f", [](const Tensors&) { return Tensors{}; });
    const Variable w(from_vector({1}));
    EXPECT_FALSE(f(w).defined());
    EXPECT_THAT(f.call({w}), IsEmpty());
}

// Sizes of 0, in eager code and in a program.
TEST_F(CheckpointFunctions, TakeEmptyTensors)
{
    int hooked = 0;
    const auto f = layer("f", square_twice, [&](const Tensor& g) {
        ++hooked;
        EXPECT_EQ(g.shape().back(), Dim(4));
        return g * 2;
    });
    const auto gradient = [&](const Tensor& in) {
        Tensor x = in.detach();
        x.requires_grad_();
        const Tensor y = f(x);
        return grad(sum(y), x);
    };
    EXPECT_EQ(gradient(zeros({0, 4})).shape(), Shape({0, 4}));
    EXPECT_EQ(hooked, 1);
    const Program p = record(gradient, {spec({symbol("n"), 4})});
    EXPECT_EQ(p(zeros({0, 4})).shape(), Shape({0, 4}));
    EXPECT_EQ(bits(p(ones({2, 4}))), bits(gradient(ones({2, 4}))));
    manager->keep("f", {zeros({0, 4})});
    EXPECT_EQ(manager->statistics().bytes_kept, 0u);
    EXPECT_EQ(f.recompute().at(0).shape(), Shape({0, 4}));
}

TEST_F(CheckpointFunctions, LeaveNothingOfRecordings)
{
    const auto f = layer("f", square_twice);
    const Variable w(from_vector({1, 2, 3}));
    Tensor held;
    const Program p = record(
        [&](Tensor x) {
            held = f(x * w);
            EXPECT_EQ(manager->statistics().keeping, 0u);
            return held;
        },
        {spec({3})});
    EXPECT_EQ(manager->statistics().checkpointed, 1u);
    EXPECT_EQ(manager->statistics().keeping, 0u);
    const Tensor x = from_vector({4, 5, 6});
    EXPECT_EQ(bits(p(x)), bits(square_twice({x * w})[0]));
}

// ---- hooks ----

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

// ---- exceptions ----

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
            const Tensor y = twice(sin(in[0]));
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
        return std::vector<std::uint64_t>{s.checkpointed, s.plain, s.keeping, s.bytes_kept, s.bytes_saved};
    };
    auto before = figures();
    where = Where::function;
    EXPECT_THROW(f(w), std::runtime_error);
    EXPECT_FALSE(is_checkpointing());
    EXPECT_EQ(figures(), before);
    where = Where::hook;
    const Tensor loss = sum(f(w));
    before = figures();
    EXPECT_THROW(loss.backward(), std::runtime_error);
    EXPECT_EQ(figures(), before);
    where = Where::backward;
    EXPECT_THROW(loss.backward(), std::runtime_error);
    EXPECT_EQ(figures(), before);
    EXPECT_EQ(f.recompute().size(), 1u);
    EXPECT_FALSE(w.grad().defined());
    where = Where::nowhere;
    loss.backward(); // the graph is as it was
    EXPECT_EQ(bits(w.grad()), bits(grad(sum(twice(sin(w))), w)));
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

// ---- Checkpoint ----

TEST(Checkpoint, MakesLayersOfModules)
{
    const auto net = nn::make<nn::Linear>(3, 2);
    const Tensor x = random_tensor({4, 3}, 1);
    const auto gradients = [&](const auto& call) {
        const auto p = net->parameters();
        std::vector<test::Bits> out;
        for (const Tensor& g : grad({sum(call(x) * call(x))}, Tensors(p.begin(), p.end())))
            out.push_back(bits(g));
        return out;
    };
    const auto want = gradients([&](const Tensor& in) { return (*net)(in); });
    {
        const CheckpointFunction shared = Checkpoint::checkpoint_module("shared", net),
                                 referred = Checkpoint::checkpoint_module("referred", *net);
        EXPECT_EQ(gradients(shared), want);
        EXPECT_EQ(gradients(referred), want);
        EXPECT_EQ(shared.manager(), Checkpoint::default_manager());
        EXPECT_EQ(shared.engine(), Checkpoint::default_engine());
        EXPECT_THAT(Checkpoint::default_manager()->layers(), ElementsAre("shared", "referred"));
        const Caught error = error_of([&] { return shared.call({x, x}); });
        EXPECT_EQ(error.kind, ErrorKind::argument);
        EXPECT_THAT(error.text, HasSubstr("takes one tensor, not (2)"));
    }
    EXPECT_THAT(Checkpoint::default_manager()->layers(), IsEmpty());
}

TEST(Checkpoint, TakesTheCallersOwn)
{
    const CheckpointFunctionOptions own{.hook = [](const Tensor& g) { return g * 3; },
                                        .manager = std::make_shared<CheckpointManager>(),
                                        .engine = std::make_shared<RecomputationEngine>()};
    const auto f = Checkpoint::checkpoint_function(
        "f", [](const Tensors& in) { return Tensors{in[0] * 2}; }, own);
    EXPECT_TRUE(own.manager->contains("f"));
    EXPECT_TRUE(own.engine->contains("f"));
    EXPECT_FALSE(Checkpoint::default_manager()->contains("f"));
    const Variable w(from_vector({1}));
    EXPECT_EQ(grad(sum(f(w)), w).item<float>(), 6);
}

} // namespace
} // namespace reprise
