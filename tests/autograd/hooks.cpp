// Hooks on tensors, gradients kept of what is no leaf.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(TensorHook, SeesTheWholeGradientOnce)
{
    Variable w(values({1, 2}));
    const Tensor y = w * 3;
    int calls = 0;
    std::vector<float> seen;
    y.register_hook([&](const Tensor& g) {
        ++calls;
        seen = floats(g);
        return Tensor();
    });
    sum(y * y + y).backward(); // two paths
    EXPECT_EQ(calls, 1);
    EXPECT_THAT(seen, ElementsAre(7, 13));
    EXPECT_THAT(floats(w.grad()), ElementsAre(21, 39));
}

// Callbacks see the gradients of all leaves, also of those whose hooks ran later.
TEST(TensorHook, QueuesCallbacksForTheEndOfThePass)
{
    const Tensor a = full({2}, 3.0).requires_grad_(), b = full({2}, 5.0).requires_grad_();
    std::vector<std::string> order;
    const auto queue = [&](const char* name) {
        return [&order, &a, &b, name](const Tensor&) {
            order.push_back(name);
            autograd::queue_callback([&order, &a, &b, name] {
                EXPECT_TRUE(a.grad().defined() && b.grad().defined());
                order.push_back(std::string("after ") + name);
            });
        };
    };
    a.register_hook(queue("a"));
    b.register_hook(queue("b"));
    for (int i = 0; i < 2; ++i) {
        (a * b).sum().backward();
        EXPECT_EQ(order.size(), 4u);
        EXPECT_EQ(order[2], "after " + order[0]);
        EXPECT_EQ(order[3], "after " + order[1]);
        order.clear();
    }
    a.register_hook(
        [](const Tensor&) { autograd::queue_callback([] { throw std::runtime_error("callback"); }); });
    EXPECT_THROW((a * b).sum().backward(), std::runtime_error);
    EXPECT_THROW(autograd::queue_callback([] {}), Error);
    EXPECT_THROW(grad((a * b).sum(), a), Error) << "grad() stores no gradients";
}

TEST(TensorHook, ReplacesInOrderAndIsRemoved)
{
    Variable w(values({1}));
    std::string order;
    const HookHandle first = w.register_hook([&](const Tensor& g) {
        order += 'a';
        return g + 1;
    });
    w.register_hook([&](const Tensor& g) {
        order += 'b';
        return g * 10;
    });
    sum(w * 2).backward();
    EXPECT_EQ(order, "ab");
    EXPECT_THAT(floats(w.grad()), ElementsAre(30));
    first.remove();
    first.remove();
    w.zero_grad();
    sum(w * 2).backward();
    EXPECT_EQ(order, "abb");
    EXPECT_THAT(floats(w.grad()), ElementsAre(20));
}

// What it holds lives as long as a pass may come by.
// What a hook owns may change the list of hooks when it ends with the hook.
TEST(TensorHook, MayRemoveAnotherWhenItIsRemoved)
{
    const Variable x(ones({1}));
    int calls = 0;
    const HookHandle other = x.register_hook([&](const Tensor&) { ++calls; });
    std::shared_ptr<void> guard(nullptr, [&](void*) { other.remove(); });
    const HookHandle first = x.register_hook([guard](const Tensor&) {});
    guard.reset();
    first.remove();
    sum(x).backward();
    EXPECT_EQ(calls, 0);
}

TEST(TensorHook, GoesWithTheGraphThatIsReleased)
{
    Variable w(values({1}));
    const auto held = std::make_shared<int>(0);
    const auto hook = [held](const Tensor&) {
        ++*held;
        return Tensor();
    };
    const Tensor y = w * 3;
    y.register_hook(hook);
    w.register_hook(hook);
    sum(y).backward({}, {.retain_graph = true});
    EXPECT_EQ(held.use_count(), 4); // with `hook`
    sum(y).backward();
    EXPECT_EQ(*held, 4);
    EXPECT_EQ(held.use_count(), 3); // the leaf's stays
}

TEST(TensorHook, StaysWithALeafThatIsAssigned)
{
    Variable w(values({1}));
    w.register_hook([](const Tensor& g) { return g * 10; });
    w.assign(values({5}));
    sum(w * w).backward();
    EXPECT_THAT(floats(w.grad()), ElementsAre(100));
}

TEST(TensorHook, OfALeafRunsWhenItsHandleIsGone)
{
    std::string order;
    const auto loss = [&](bool assigned) {
        Variable x(values({1, 2}));
        x.register_hook([&](const Tensor& g) {
            order += 'a';
            return g * 10;
        });
        if (assigned) x.assign(values({3, 4}));
        x.register_hook([&](const Tensor& g) {
            order += g.to_vector<float>() == std::vector<float>{20, 20} ? 'b' : '?';
            return Tensor();
        });
        return sum(x * 2);
    };
    loss(false).backward();
    EXPECT_EQ(order, "ab");
    loss(true).backward();
    EXPECT_EQ(order, "abab");
    HookHandle handle;
    Tensor y;
    {
        Variable x(values({1, 2}));
        handle = x.register_hook([&](const Tensor&) {
            order += 'c';
            return Tensor();
        });
        y = sum(x * 2);
    }
    handle.remove();
    y.backward();
    EXPECT_EQ(order, "abab");
}

TEST(TensorHook, CountsForGradToo)
{
    Variable w(values({3}));
    const Tensor inner = w * w;
    inner.register_hook([](const Tensor& g) { return g * 2; });
    const auto g = grad({sum(inner * 1)}, {inner, w});
    EXPECT_THAT(floats(g[0]), ElementsAre(2));
    EXPECT_THAT(floats(g[1]), ElementsAre(12));
}

TEST(TensorHook, IsDifferentiatedWithTheGraph)
{
    Variable w(values({2}));
    const Tensor y = w * w;
    y.register_hook([&](const Tensor& g) { return g * w; }); // dw = 2 w * w
    const Tensor g = grad(sum(y), w, {.create_graph = true});
    EXPECT_THAT(floats(g), ElementsAre(8));
    EXPECT_THAT(floats(grad(g, w)), ElementsAre(8)); // 4 w
}

TEST(TensorHook, OfOneOfSeveralOutputs)
{
    Variable x(from_vector(std::vector<float>{1, 5, 3, 2}, {2, 2}));
    const auto parts = split(x, 1, 0);
    parts[1].register_hook([](const Tensor& g) { return g * 100; });
    sum(parts[0] + parts[1]).backward();
    EXPECT_THAT(floats(x.grad()), ElementsAre(1, 1, 100, 100));
}

TEST(TensorHook, TellsWhatDoesNotFit)
{
    EXPECT_EQ(error_of([] { return values({1}).register_hook([](const Tensor& g) { return g; }), 0; }).kind,
              ErrorKind::state);
    Variable w(values({1, 2}));
    w.register_hook([](const Tensor&) { return ones({3}); });
    const Caught shape = error_of([&] { return sum(w * 2).backward(), 0; });
    EXPECT_EQ(shape.kind, ErrorKind::shape);
    EXPECT_THAT(shape.text, HasSubstr("[3]"));
}

TEST(TensorHook, MayNotReleaseTheGraphThatItIsCalledIn)
{
    const Variable x(from_vector({1, 2}));
    const Tensor y = exp(x);
    y.eval();
    bool inside = false;
    const HookHandle handle = y.register_hook([&](const Tensor&) {
        if (!std::exchange(inside, true)) y.backward(ones({2}));
        return Tensor();
    });
    const Caught error = error_of([&] { return sum(y * y).backward(), 0; });
    EXPECT_EQ(error.kind, ErrorKind::state);
    EXPECT_THAT(error.text, HasSubstr("[backward] The graph of (exp) was already used"));
}

TEST(TensorHook, MayAddAndRemoveHooks)
{
    Variable w(values({1}));
    HookHandle self;
    int calls = 0;
    self = w.register_hook([&](const Tensor&) {
        ++calls;
        self.remove();
        w.register_hook([&](const Tensor&) {
            calls += 10;
            return Tensor();
        });
        return Tensor();
    });
    sum(w * 2).backward();
    EXPECT_EQ(calls, 1);
    sum(w * 2).backward();
    EXPECT_EQ(calls, 11);
}

TEST(TensorHook, RunsWhileRecordingOnly)
{
    Variable w(values({2}));
    int calls = 0;
    w.register_hook([&](const Tensor& g) {
        ++calls;
        return g * 10;
    });
    const Dim n = symbol("n");
    const auto step = record(
        [&](Tensor x) {
            w.zero_grad();
            sum(x * w).backward();
            return w.grad();
        },
        {spec({n})});
    EXPECT_EQ(calls, 1);
    EXPECT_THAT(floats(step(values({1, 2}))), ElementsAre(30));
    EXPECT_THAT(floats(step(values({1, 2, 3}))), ElementsAre(60));
    EXPECT_EQ(calls, 1);
    w.register_hook([](const Tensor& g) { return g * static_cast<double>(g.item<float>()); });
    const Caught reads = error_of(
        [&] { return record([&](Tensor x) { return sum(x * w).gradients().get(w); }, {spec({n})}); });
    EXPECT_EQ(reads.kind, ErrorKind::state);
    EXPECT_THAT(reads.text, HasSubstr("recorded"));
}

TEST(RetainGrad, KeepsTheGradientOfAnInnerTensor)
{
    Variable w(values({1, 2}));
    const Tensor y = w * 3;
    EXPECT_FALSE(y.retains_grad());
    y.retain_grad();
    EXPECT_TRUE(y.retains_grad());
    y.register_hook([](const Tensor& g) { return g * 10; }); // what is kept is what goes on
    sum(y * 2).backward({}, {.retain_graph = true});
    EXPECT_THAT(floats(y.grad()), ElementsAre(20, 20));
    sum(y * 2).backward();
    EXPECT_THAT(floats(y.grad()), ElementsAre(40, 40));
    w.retain_grad(); // nothing changes
    EXPECT_FALSE(w.retains_grad());
    EXPECT_EQ(error_of([] { return values({1}).retain_grad(), 0; }).kind, ErrorKind::state);
}

TEST(RetainGrad, InAProgram)
{
    Variable w(values({2}));
    const auto f = record(
        [&](Tensor x) {
            const Tensor y = x * w;
            y.retain_grad();
            sum(y * y).backward();
            return y.grad();
        },
        {spec({symbol("n")})});
    EXPECT_THAT(floats(f(values({1, 2}))), ElementsAre(4, 8));
}

} // namespace
} // namespace reprise
