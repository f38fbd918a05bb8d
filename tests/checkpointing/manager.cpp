// Managers: layers, strategies, what is kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <reprise/autograd.hpp>
#include <reprise/checkpointing.hpp>
#include <reprise/memory.hpp>
#include <reprise/ops.hpp>

#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using Strategy = CheckpointConfig::Strategy;
using test::bits;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Those of "a" to "f" that are checkpoints, with 10, 20, 30, unknown, 50 and 60 bytes.
std::string chosen(const CheckpointConfig& config)
{
    CheckpointManager manager(config);
    std::string out;
    const std::vector<std::optional<std::uint64_t>> bytes = {10, 20, 30, std::nullopt, 50, 60};
    for (std::size_t i = 0; i < bytes.size(); ++i)
        manager.register_layer(std::string(1, static_cast<char>('a' + i)), bytes[i]);
    for (const std::string& id : manager.layers())
        if (manager.should_checkpoint(id)) out += id;
    return out;
}

TEST(CheckpointManager, FollowsItsStrategy)
{
    EXPECT_EQ(chosen({}), "abcdef");
    EXPECT_EQ(chosen({.strategy = Strategy::none, .layers = {"a"}}), "");
    EXPECT_EQ(chosen({.strategy = Strategy::every_kth}), "abcdef");
    EXPECT_EQ(chosen({.strategy = Strategy::every_kth, .every = 2}), "ace");
    EXPECT_EQ(chosen({.strategy = Strategy::every_kth, .every = 4, .layers = {"b", "of no manager"}}), "abe");
    EXPECT_EQ(chosen({.strategy = Strategy::every_kth, .every = 100}), "a");
    EXPECT_EQ(chosen({.strategy = Strategy::selective, .layers = {"b", "f"}}), "bf");
    EXPECT_EQ(chosen({.strategy = Strategy::selective}), "");
    EXPECT_EQ(chosen({.strategy = Strategy::by_size, .bytes = 30}), "def");
    EXPECT_EQ(chosen({.strategy = Strategy::by_size, .bytes = 30, .layers = {"b"}}), "bdef");
    EXPECT_EQ(chosen({.strategy = Strategy::by_size}), "abcdef");
    EXPECT_EQ(chosen({.strategy = Strategy::by_budget, .bytes = 110}), "abcd");
    EXPECT_EQ(chosen({.strategy = Strategy::by_budget, .bytes = 109}), "abcde");
    EXPECT_EQ(chosen({.strategy = Strategy::by_budget, .bytes = 170}), "d");
    EXPECT_EQ(chosen({.strategy = Strategy::by_budget, .bytes = 1}), "abcdef");
    EXPECT_EQ(chosen({.strategy = Strategy::by_budget, .bytes = 110, .layers = {"f"}}), "df");
}

TEST(CheckpointManager, GivesTheOptionsOfACheckpoint)
{
    CheckpointManager manager(
        {.strategy = Strategy::selective, .layers = {"a"}, .policy = CheckpointOptions::Policy::selective});
    manager.register_layer("a");
    manager.register_layer("b");
    const auto options = manager.checkpoint_options("a");
    ASSERT_TRUE(options);
    EXPECT_EQ(options->layer, "a");
    EXPECT_EQ(options->policy, CheckpointOptions::Policy::selective);
    EXPECT_FALSE(manager.checkpoint_options("b"));
    const CheckpointConfig none{.strategy = Strategy::none};
    manager.set_config(none);
    EXPECT_EQ(manager.config(), none);
    EXPECT_FALSE(manager.should_checkpoint("a"));
}

TEST(CheckpointManager, KeepsLayersInOrder)
{
    CheckpointManager manager({.strategy = Strategy::every_kth, .every = 2});
    for (const char* id : {"z", "y", "x"}) manager.register_layer(id);
    EXPECT_THAT(manager.layers(), ElementsAre("z", "y", "x"));
    EXPECT_TRUE(manager.contains("y"));
    EXPECT_FALSE(manager.should_checkpoint("y"));
    EXPECT_TRUE(manager.remove_layer("z"));
    EXPECT_FALSE(manager.remove_layer("z"));
    EXPECT_FALSE(manager.contains("z"));
    EXPECT_TRUE(manager.should_checkpoint("y")); // the first now
    manager.register_layer("z");
    EXPECT_THAT(manager.layers(), ElementsAre("y", "x", "z"));
    EXPECT_EQ(manager.statistics().layers, 3u);
}

TEST(CheckpointManager, NamesMistakes)
{
    CheckpointManager manager;
    manager.register_layer("a");
    manager.register_layer("b", 7);
    const auto refused = [](const auto& call) {
        const Caught error = error_of([&] { return call(), 0; });
        EXPECT_EQ(error.kind, ErrorKind::argument);
        return error.text;
    };
    EXPECT_THAT(refused([&] { manager.register_layer("a"); }),
                HasSubstr("[CheckpointManager] The layer (a) is registered already"));
    EXPECT_THAT(refused([&] { manager.register_layer(""); }), HasSubstr("id is empty"));
    const std::string unknown = "The layer (c) is not registered: there are (a, b)";
    EXPECT_THAT(refused([&] { (void)manager.should_checkpoint("c"); }), HasSubstr(unknown));
    EXPECT_THAT(refused([&] { (void)manager.checkpoint_options("c"); }), HasSubstr(unknown));
    EXPECT_THAT(refused([&] { (void)manager.retrieve("c"); }), HasSubstr(unknown));
    EXPECT_THAT(refused([&] { (void)manager.bytes("c"); }), HasSubstr(unknown));
    EXPECT_THAT(refused([&] { manager.release("c"); }), HasSubstr(unknown));
    EXPECT_THAT(refused([&] { manager.keep("c", {}); }), HasSubstr(unknown));
    EXPECT_THAT(refused([&] { manager.keep("a", {Tensor()}); }), HasSubstr("Tensor (0) for the layer (a)"));
    EXPECT_THAT(refused([&] { manager.set_config({.strategy = Strategy::every_kth, .every = 0}); }),
                HasSubstr("a layer in (0)"));
    EXPECT_THAT(refused([] { CheckpointManager m({.strategy = Strategy::by_budget}); }),
                HasSubstr("may keep (0) bytes"));
    EXPECT_EQ(manager.config(), CheckpointConfig{});
    const Caught error = error_of([&] { return manager.retrieve("a"); });
    EXPECT_EQ(error.kind, ErrorKind::state);
    EXPECT_THAT(error.text, HasSubstr("The layer (a) keeps nothing"));
}

TEST(CheckpointManager, KeepsValues)
{
    CheckpointManager manager;
    manager.register_layer("a");
    manager.register_layer("b");
    Variable w(from_vector({1, 2, 3}));
    manager.keep("a", {w, exp(w)});
    manager.keep("b", {});
    EXPECT_THAT(manager.retrieve("b"), IsEmpty());
    const auto kept = manager.retrieve("a");
    ASSERT_EQ(kept.size(), 2u);
    EXPECT_EQ(bits(kept[1]), bits(exp(w)));
    EXPECT_FALSE(kept[1].requires_grad());
    CheckpointStatistics s = manager.statistics();
    EXPECT_EQ(s.keeping, 2u);
    EXPECT_EQ(s.bytes_kept, 24u);
    w.assign(from_vector({7, 8, 9})); // not what was kept
    EXPECT_THAT(manager.retrieve("a")[0].to_vector<float>(), ElementsAre(1, 2, 3));
    manager.keep("a", {from_vector({4})});
    EXPECT_EQ(manager.statistics().bytes_kept, 4u);
    manager.release("a");
    manager.release("a");
    EXPECT_EQ(error_of([&] { return manager.retrieve("a"); }).kind, ErrorKind::state);
    EXPECT_EQ(manager.statistics().keeping, 1u);
    manager.keep("a", {w});
    manager.clear();
    s = manager.statistics();
    EXPECT_EQ(s.layers, 2u);
    EXPECT_EQ(s.keeping, 0u);
    EXPECT_EQ(s.bytes_kept, 0u);
}

// Memory is held until it is released, and no graph is.
TEST(CheckpointManager, HoldsNoTape)
{
    constexpr std::uint64_t bytes = 64 * 64 * 4;
    const MemoryTracker memory;
    Variable w(test::random_tensor({64, 64}, 1, -0.1, 0.1));
    w.eval();
    const std::uint64_t before = memory.current();
    CheckpointManager manager;
    manager.register_layer("a");
    {
        Tensor y = w;
        for (int i = 0; i < 4; ++i) y = exp(y); // the tape keeps each
        y.eval();
        EXPECT_GE(memory.current(), before + 4 * bytes);
        manager.keep("a", {y});
        static_cast<void>(manager.retrieve("a")[0].to_vector<float>());
        sum(y).backward();
        w.grad().eval();
        w.zero_grad();
    }
    EXPECT_EQ(memory.current(), before + bytes);
    manager.remove_layer("a");
    EXPECT_EQ(memory.current(), before);
}

TEST(CheckpointManager, Measures)
{
    Variable w(test::random_tensor({16, 16}, 1, -0.2, 0.2));
    const Tensor x = test::random_tensor({32, 16}, 2);
    CheckpointManager manager({.strategy = Strategy::by_size, .bytes = 5000});
    manager.register_layer("measured small");
    manager.register_layer("measured large");
    manager.register_layer("given", 10);
    EXPECT_EQ(manager.bytes("measured large"), std::nullopt);
    const auto layer = [&](const std::string& id, int count) {
        return [&w, id, count](const Tensor& in) {
            return checkpoint(
                {.layer = id},
                [&](Tensor h) {
                    for (int i = 0; i < count; ++i) h = tanh(matmul(h, w));
                    return h;
                },
                in);
        };
    };
    {
        const Tensor loss = sum(layer("given", 3)(layer("measured large", 4)(layer("measured small", 2)(x))));
        manager.measure(); // nothing was computed yet
        EXPECT_EQ(manager.bytes("measured large"), std::nullopt);
        loss.eval();
        manager.measure();
        constexpr std::uint64_t value = 32 * 16 * 4;
        EXPECT_EQ(manager.bytes("measured small"), value); // results of tanh but the last
        EXPECT_EQ(manager.bytes("measured large"), 3 * value);
        EXPECT_EQ(manager.bytes("given"), 10u);
        EXPECT_EQ(manager.statistics().bytes_saved, 6 * value);
        EXPECT_FALSE(manager.should_checkpoint("measured small"));
        EXPECT_TRUE(manager.should_checkpoint("measured large"));
        loss.backward();
    }
    w.zero_grad();
    EXPECT_THAT(MemoryTracker().saved_by_layer(), IsEmpty()); // the names went with their graphs
    EXPECT_EQ(manager.statistics().bytes_saved, 0u);
    manager.measure(); // nothing is saved now: what was measured stays
    EXPECT_TRUE(manager.should_checkpoint("measured large"));
}

} // namespace
} // namespace reprise
