// Hooks by layer: handles, order, mistakes, and lists that change while they run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <reprise/autograd.hpp>
#include <reprise/checkpointing.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using Handle = BackwardHookManager::Handle;
using test::bits;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(BackwardHookManager, RunsHooksInOrder)
{
    BackwardHookManager hooks;
    hooks.register_hook("a", [](const Tensor& g) { return g + 1; });
    hooks.register_hook("b", [](const Tensor& g) { return g * 100; });
    hooks.register_hook("a", [](const Tensor&) { return Tensor(); }); // leaves it
    hooks.register_hook("a", [](const Tensor& g) { return g * 2; });
    EXPECT_THAT(hooks.invoke("a", from_vector({1, 2})).to_vector<float>(), ElementsAre(4, 6));
    EXPECT_THAT(hooks.invoke("c", from_vector({1, 2})).to_vector<float>(), ElementsAre(1, 2));
    EXPECT_EQ(hooks.size(), 4u);
    EXPECT_EQ(hooks.size("a"), 3u);
    EXPECT_EQ(hooks.size("c"), 0u);
}

TEST(BackwardHookManager, RemovesHooks)
{
    BackwardHookManager hooks, other;
    const auto hook = [](const Tensor& g) { return g + 1; };
    const Handle first = hooks.register_hook("a", hook), second = hooks.register_hook("a", hook),
                 third = hooks.register_hook("b", hook), elsewhere = other.register_hook("a", hook);
    EXPECT_NE(first, second);
    EXPECT_NE(second, third);
    EXPECT_TRUE(hooks.remove(first));
    EXPECT_FALSE(hooks.remove(first));
    EXPECT_FALSE(hooks.remove(0));
    EXPECT_FALSE(hooks.remove(elsewhere));
    EXPECT_EQ(hooks.size("a"), 1u);
    EXPECT_EQ(hooks.invoke("a", from_vector({1})).item<float>(), 2);
    EXPECT_EQ(hooks.remove_layer("a"), 1u);
    EXPECT_EQ(hooks.remove_layer("a"), 0u);
    EXPECT_FALSE(hooks.remove(second));
    EXPECT_EQ(hooks.size(), 1u);
    hooks.clear();
    EXPECT_EQ(hooks.size(), 0u);
    EXPECT_FALSE(hooks.remove(third));
    EXPECT_GT(hooks.register_hook("a", hook), elsewhere); // none comes twice
    EXPECT_EQ(other.size(), 1u);
}

TEST(BackwardHookManager, NamesMistakes)
{
    BackwardHookManager hooks;
    Caught error = error_of([&] { return hooks.register_hook("a", nullptr); });
    EXPECT_EQ(error.kind, ErrorKind::argument);
    EXPECT_THAT(error.text, HasSubstr("[BackwardHookManager] The hook for the layer (a) is null"));
    EXPECT_THAT(error_of([&] { return hooks.register_hook("", [](const Tensor& g) { return g; }); }).text,
                HasSubstr("id is empty"));
    EXPECT_THAT(error_of([&] { return hooks.invoke("a", {}); }).text, HasSubstr("is undefined"));
    hooks.register_hook("a", [](const Tensor& g) { return sum(g); });
    error = error_of([&] { return hooks.invoke("a", from_vector({1, 2})); });
    EXPECT_EQ(error.kind, ErrorKind::shape);
    EXPECT_THAT(error.text, HasSubstr("gave f32[] for a gradient of f32[2]"));
}

TEST(BackwardHookManager, LetsHooksChangeIt)
{
    BackwardHookManager hooks;
    int runs = 0;
    Handle itself = 0;
    itself = hooks.register_hook("a", [&](const Tensor&) {
        hooks.remove(itself);
        hooks.register_hook("a", [&](const Tensor&) {
            runs += 10;
            return Tensor();
        });
        return Tensor();
    });
    hooks.register_hook("a", [&](const Tensor&) {
        ++runs;
        return Tensor();
    });
    const Tensor g = from_vector({1});
    hooks.invoke("a", g);
    EXPECT_EQ(runs, 1); // the new one is not part of this invocation
    hooks.invoke("a", g);
    EXPECT_EQ(runs, 12);
    hooks.register_hook("b", [&](const Tensor&) {
        hooks.clear();
        return Tensor();
    });
    hooks.register_hook("b", [&](const Tensor& g_) { return g_ * 5; });
    EXPECT_EQ(hooks.invoke("b", g).item<float>(), 5);
    EXPECT_EQ(hooks.size(), 0u);
}

TEST(BackwardHookManager, SurvivesAHookThatThrows)
{
    BackwardHookManager hooks;
    bool throws = true;
    int after = 0;
    hooks.register_hook("a", [&](const Tensor& g) {
        if (throws) throw std::runtime_error("of the user");
        return g * 2;
    });
    hooks.register_hook("a", [&](const Tensor&) {
        ++after;
        return Tensor();
    });
    EXPECT_THROW(hooks.invoke("a", from_vector({1})), std::runtime_error);
    EXPECT_EQ(after, 0);
    EXPECT_EQ(hooks.size("a"), 2u);
    throws = false;
    EXPECT_EQ(hooks.invoke("a", from_vector({1})).item<float>(), 2);
    EXPECT_EQ(after, 1);
}

// The hooks see the gradients that the plain API shows, once each; in a program while it is recorded.
TEST(BackwardHookManager, IsAHookOfTheTape)
{
    const Variable w(test::random_tensor({3, 3}, 1));
    BackwardHookManager hooks;
    std::vector<Tensor> seen;
    for (int i = 0; i < 2; ++i)
        hooks.register_hook("y", [&](const Tensor& g) {
            seen.push_back(g);
            return g * 2;
        });
    const auto run = [&](const Tensor& x, bool managed) {
        const Tensor y = tanh(matmul(x, w));
        if (managed) y.register_hook([&](const Tensor& g) { return hooks.invoke("y", g); });
        else
            for (int i = 0; i < 2; ++i) y.register_hook([](const Tensor& g) { return g * 2; });
        return grad(sum(y * y), w);
    };
    const Tensor x = test::random_tensor({4, 3}, 2);
    const auto want = bits(run(x, false));
    EXPECT_EQ(bits(run(x, true)), want);
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(bits(seen[0]), bits(tanh(matmul(x, w)) * 2));
    EXPECT_EQ(bits(seen[1]), bits(tanh(matmul(x, w)) * 2 * 2));
    const Program p = record([&](Tensor in) { return run(in, true); }, {spec({symbol("n"), 3})});
    EXPECT_EQ(seen.size(), 4u);
    EXPECT_EQ(bits(p(x)), want);
    EXPECT_EQ(seen.size(), 4u);
}

} // namespace
} // namespace reprise
