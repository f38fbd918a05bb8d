// The tape as users see it: GradientTape, TapeNode, GradStore.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using test::floats;
using testing::ElementsAre;
using testing::HasSubstr;

using test::values;

TEST(GradientTape, WatchesPlainTensors)
{
    const Tensor x = values({1, 2});
    {
        GradientTape tape;
        tape.watch(x);
        const Tensor g = tape.gradient(x * x, x);
        EXPECT_THAT(floats(g), ElementsAre(2, 4));
        EXPECT_FALSE(x.grad().defined());
    }
    EXPECT_FALSE(x.requires_grad());
}

TEST(GradientTape, KnowsVariablesUnasked)
{
    const Variable w(values({3}));
    GradientTape tape;
    EXPECT_THAT(floats(tape.gradient(w * w, w)), ElementsAre(6));
}

TEST(GradientTape, IsUsedOnceUnlessItIsPersistent)
{
    const Variable w(values({3}));
    GradientTape once;
    const Tensor y = w * w;
    static_cast<void>(once.gradient(y, w));
    const Caught again = error_of([&] { return once.gradient(y, w); });
    EXPECT_EQ(again.kind, ErrorKind::state);
    EXPECT_THAT(again.text, HasSubstr("persistent"));
    GradientTape many({.persistent = true});
    const Tensor z = exp(w * 0) * w * w;
    EXPECT_THAT(floats(many.gradient(z, w)), ElementsAre(6));
    EXPECT_THAT(floats(many.gradient(z, w)), ElementsAre(6));
}

TEST(GradientTape, Nests)
{
    const Tensor x = values({2});
    GradientTape outer;
    outer.watch(x);
    Tensor first;
    {
        GradientTape inner;
        inner.watch(x);
        first = inner.gradient(x * x * x, x);
    }
    EXPECT_THAT(floats(first), ElementsAre(12));
    EXPECT_THAT(floats(outer.gradient(first, x)), ElementsAre(12));
    EXPECT_TRUE(x.requires_grad()); // until the outer one goes, which began to watch it
}

TEST(GradientTape, OfUnconnectedSources)
{
    const Variable a(values({1, 2})), b(values({3}));
    GradientTape tape({.persistent = true});
    const Tensor y = a * a;
    const auto none = tape.gradient(y, std::vector<Tensor>{a, b});
    EXPECT_THAT(floats(none[0]), ElementsAre(2, 4));
    EXPECT_FALSE(none[1].defined());
    EXPECT_THAT(floats(tape.gradient(y, b, Unconnected::zero)), ElementsAre(0));
    EXPECT_EQ(error_of([&] { return tape.gradient(y, values({1})); }).kind, ErrorKind::state);
    EXPECT_EQ(error_of([&] { return tape.watch(arange(3)), 0; }).kind, ErrorKind::dtype);
}

TEST(GradientTape, InAProgram)
{
    const Dim n = symbol("n");
    const auto f = record(
        [](Tensor x) {
            GradientTape tape;
            tape.watch(x);
            return tape.gradient(x * x, x);
        },
        {spec({n})});
    EXPECT_THAT(floats(f(values({1, 2, 3}))), ElementsAre(2, 4, 6));
}

TEST(TapeNode, SaysWhatMadeATensor)
{
    const Variable w(values({1, 2}));
    EXPECT_FALSE(w.grad_fn().defined());
    EXPECT_FALSE(values({1}).grad_fn().defined());
    const Tensor square = w * w, loss = sum(square, {0}, true);
    const TapeNode node = loss.grad_fn();
    EXPECT_EQ(node.operation(), "sum");
    EXPECT_THAT(node.shapes(), ElementsAre(Shape{1}));
    ASSERT_EQ(node.parents().size(), 1u);
    const TapeNode mul = node.parents()[0];
    EXPECT_EQ(mul, square.grad_fn());
    EXPECT_EQ(mul.operation(), "mul");
    ASSERT_EQ(mul.parents().size(), 2u);
    const TapeNode leaf = mul.parents()[0];
    EXPECT_TRUE(leaf.is_leaf());
    EXPECT_EQ(leaf.operation(), "leaf");
    EXPECT_EQ(leaf.variable().cell(), w.cell());
    EXPECT_TRUE(leaf.parents().empty());
    const auto parameters = node.parameters();
    EXPECT_TRUE(std::any_of(parameters.begin(), parameters.end(),
                            [](const auto& p) { return p.first == "keepdim" && p.second == "1"; }));
}

TEST(TapeNode, WalksEachNodeOnceParentsFirst)
{
    const Variable w(values({1, 2}));
    Tensor y = w;
    for (int i = 0; i < 20; ++i) y = y * y; // 2^20 paths
    std::vector<std::string> seen;
    y.grad_fn().walk([&](const TapeNode& n) { seen.push_back(n.operation()); });
    ASSERT_EQ(seen.size(), 21u);
    EXPECT_EQ(seen[0], "leaf");
    EXPECT_EQ(seen[20], "mul");
    const std::string text = sum(exp(w)).grad_fn().text();
    EXPECT_THAT(text, HasSubstr("= leaf : f32[2]\n"));
    EXPECT_THAT(text, HasSubstr("= exp(%"));
    EXPECT_THAT(text, HasSubstr("f32[]\n"));
}

TEST(GradStore, HoldsTheGradientsOfAllLeaves)
{
    const Variable a(values({1, 2})), b(values({3})), unused(values({4}));
    const Tensor root = sum(a * a * b);
    const GradStore g = root.gradients();
    EXPECT_EQ(g.size(), 3u) << "and that of the root";
    EXPECT_THAT(floats(g.get(root)), ElementsAre(1));
    EXPECT_TRUE(g.contains(a) && g.contains(b));
    EXPECT_FALSE(g.contains(unused));
    EXPECT_FALSE(g.get(unused).defined());
    EXPECT_THAT(floats(g.get(a)), ElementsAre(6, 12));
    EXPECT_THAT(floats(g.get(b)), ElementsAre(5));
    EXPECT_FALSE(a.grad().defined());
}

TEST(GradStore, AccumulatesAndClones)
{
    const Variable a(values({1, 2})), b(values({3}));
    GradStore first = sum(a * a).gradients();
    const GradStore kept = first.clone();
    first.accumulate(sum(a * b).gradients());
    EXPECT_THAT(floats(first.get(a)), ElementsAre(5, 7));
    EXPECT_THAT(floats(first.get(b)), ElementsAre(3));
    EXPECT_THAT(floats(kept.get(a)), ElementsAre(2, 4));
    EXPECT_FALSE(kept.contains(b));
    first.accumulate(first);
    EXPECT_THAT(floats(first.get(a)), ElementsAre(10, 14));
    first.remove(a);
    EXPECT_FALSE(first.contains(a));
    EXPECT_EQ(error_of([&] { return first.accumulate(a, ones({3})), 0; }).kind, ErrorKind::shape);
    EXPECT_EQ(error_of([&] { return first.accumulate(a, ones({2}, {.dtype = i32})), 0; }).kind,
              ErrorKind::dtype);
}

TEST(GradStore, CanBeDifferentiatedAgain)
{
    const Variable a(values({2}));
    const Tensor g = sum(a * a * a).gradients({.create_graph = true}).get(a);
    EXPECT_THAT(floats(grad(g, a)), ElementsAre(12));
}

TEST(GradStore, InAProgram)
{
    const Variable w(values({2, 3}));
    const Dim n = symbol("n");
    const auto f = record([&](Tensor x) { return sum(x * w * w).gradients().get(w); }, {spec({n, 2})});
    EXPECT_THAT(floats(f(ones({3, 2}))), ElementsAre(12, 18));
    EXPECT_FALSE(w.grad().defined());
}

} // namespace
} // namespace reprise
