// Layers: what their calls give, hooks, registration, mistakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include <reprise/autograd.hpp>
#include <reprise/checkpointing.hpp>
#include <reprise/memory.hpp>
#include <reprise/nn.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "checkpointing/layers.hpp"
#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using Strategy = CheckpointConfig::Strategy;
using test::bits;
using test::CheckpointFunctions;
using test::random_tensor;
using test::square_twice;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Tensors = std::vector<Tensor>;

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

TEST(Checkpoint, NamesMistakesAtItsDefaultManager)
{
    const TracedFunction f = [](const Tensors& in) { return in; };
    const auto kept = Checkpoint::checkpoint_function("f", f);
    for (const Caught& error :
         {error_of([&] { return Checkpoint::checkpoint_function("f", f); }),
          error_of([&] { return Checkpoint::checkpoint_function("", f); }),
          error_of([&] { return Checkpoint::checkpoint_function("g", nullptr); }),
          error_of([&] { return Checkpoint::checkpoint_module("g", std::shared_ptr<nn::Module>()); })})
        EXPECT_EQ(error.kind, ErrorKind::argument) << error.text;
    EXPECT_THAT(Checkpoint::default_manager()->layers(), ElementsAre("f"));
    EXPECT_FALSE(Checkpoint::default_engine()->contains("g"));
}

// The manager's decision as an option of a module's own checkpoints.
TEST(Checkpoint, OptionsOfAManagerAreThoseOfModules)
{
    CheckpointManager manager;
    manager.register_layer("block");
    const auto net = nn::make<nn::Linear>(8, 8);
    const Tensor x = random_tensor({64, 8}, 1);
    const auto run = [&] {
        const Tensor loss = sum(square(tanh((*net)(x))));
        loss.eval();
        const std::uint64_t saved = MemoryTracker().saved("block");
        const auto p = net->parameters();
        std::vector<test::Bits> out;
        for (const Tensor& g : grad({loss}, Tensors(p.begin(), p.end()))) out.push_back(bits(g));
        return std::pair(out, saved);
    };
    const auto plain = run().first;
    net->set_checkpoint(manager.checkpoint_options("block"));
    EXPECT_EQ(run().first, plain);
    manager.set_config({.strategy = Strategy::none});
    net->set_checkpoint(manager.checkpoint_options("block"));
    EXPECT_EQ(run(), (std::pair<std::vector<test::Bits>, std::uint64_t>(plain, 0)));
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
