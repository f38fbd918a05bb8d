// Who requires a gradient, what is a leaf, and what backward() accepts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/autograd.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/program.hpp>

#include "shape/error_of.hpp"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Variable variable(std::vector<float> v) { return Variable(from_vector(v)); }

TEST(RequiresGrad, ComesFromAnyInput)
{
    const Tensor plain = from_vector({1, 2});
    const Variable v = variable({3, 4});
    EXPECT_FALSE(plain.requires_grad());
    EXPECT_TRUE(v.requires_grad());
    EXPECT_FALSE((plain * plain).requires_grad());
    EXPECT_TRUE((plain * v).requires_grad());
    EXPECT_TRUE(reshape(v, {2, 1}).requires_grad());
    EXPECT_TRUE(where(plain > 1, plain, v).requires_grad());
}

TEST(RequiresGrad, StopsAtWhatHasNoGradient)
{
    const Variable v = variable({3, 4});
    EXPECT_FALSE((v > 3).requires_grad());
    EXPECT_FALSE(argmax(v, 0).requires_grad());
    EXPECT_FALSE(v.detach().requires_grad());
    const no_grad guard;
    EXPECT_FALSE((v * v).requires_grad());
    EXPECT_TRUE(v.requires_grad());
}

TEST(RequiresGrad, IsAskedForByLeavesOfFloatingDtypes)
{
    Tensor t = from_vector({1, 2});
    EXPECT_TRUE(t.requires_grad_().requires_grad());
    EXPECT_FALSE(t.requires_grad_(false).requires_grad());
    EXPECT_TRUE(zeros({2}, {.requires_grad = true}).requires_grad());
    Tensor inner = variable({1}) * 2;
    const Caught not_leaf = error_of([&] { return inner.requires_grad_(false); });
    EXPECT_EQ(not_leaf.kind, ErrorKind::state);
    EXPECT_THAT(not_leaf.text, HasSubstr("detach()"));
    Tensor integers = arange(3);
    const Caught dtype = error_of([&] { return integers.requires_grad_(); });
    EXPECT_EQ(dtype.kind, ErrorKind::dtype);
    EXPECT_THAT(dtype.text, HasSubstr("i32"));
}

TEST(Leaf, IsWhatNoOpMade)
{
    const Variable v = variable({1, 2});
    EXPECT_TRUE(v.is_leaf());
    EXPECT_TRUE(from_vector({1}).is_leaf());
    EXPECT_FALSE((v * 2).is_leaf());
    EXPECT_TRUE((v * 2).detach().is_leaf());
    EXPECT_TRUE((v.detach() * 2).is_leaf()); // as in PyTorch: it requires no gradient
}

TEST(Leaf, StaysOneWhenAssigned)
{
    Variable v = variable({1, 2});
    {
        const no_grad guard;
        v.assign(v * 10);
    }
    EXPECT_TRUE(v.is_leaf() && v.requires_grad());
    sum(v * v).backward();
    EXPECT_THAT(v.grad().to_vector<float>(), ElementsAre(20, 40));
}

TEST(Leaf, ItsOldValueIsKeptByWhatWasMadeOfIt)
{
    Variable v = variable({3, 5});
    const Tensor y = sum(v * v);
    v.assign(zeros({2}));
    EXPECT_EQ(y.item<float>(), 34);
    y.backward();
    EXPECT_THAT(v.grad().to_vector<float>(), ElementsAre(6, 10));
}

TEST(Assign, ChecksWhatItIsGiven)
{
    Variable v = variable({1, 2});
    EXPECT_EQ(error_of([&] { return v.assign(zeros({3})), 0; }).kind, ErrorKind::shape);
    EXPECT_EQ(error_of([&] { return v.assign(zeros({2}, {.dtype = i32})), 0; }).kind, ErrorKind::dtype);
    EXPECT_THAT(v.to_vector<float>(), ElementsAre(1, 2));
}

TEST(Detach, SharesTheValueAndEndsTheTape)
{
    const Variable v = variable({2, 3});
    sum(v.detach() * v).backward();
    EXPECT_THAT(v.grad().to_vector<float>(), ElementsAre(2, 3));
}

TEST(Snapshot, KeepsValueAndTape)
{
    Variable v = variable({2, 3});
    Tensor before = v.snapshot(), product = v * v;
    const Tensor of_product = product.snapshot();
    v.assign(variable({10, 10}));
    product.assign(zeros({2}));
    EXPECT_THAT(before.to_vector<float>(), ElementsAre(2, 3));
    EXPECT_THAT(of_product.to_vector<float>(), ElementsAre(4, 9));
    sum(before * before + of_product).backward();
    EXPECT_THAT(v.grad().to_vector<float>(), ElementsAre(8, 12)); // where the gradient of v itself goes
    before.assign(zeros({2}));
    EXPECT_THAT(v.to_vector<float>(), ElementsAre(10, 10));
    EXPECT_EQ(error_of([] { return Tensor().snapshot(); }).kind, ErrorKind::argument);
}

TEST(Snapshot, OfStateIsItsValueAtThatPlace)
{
    const Tensor state = from_vector({1});
    const auto step = record(
        [&](Tensor x) {
            Tensor handle = state;
            const Tensor before = handle.snapshot();
            handle.assign(handle + x);
            return before;
        },
        {spec({1})});
    EXPECT_THAT(step(ones({1})).to_vector<float>(), ElementsAre(1));
    EXPECT_THAT(step(ones({1})).to_vector<float>(), ElementsAre(2));
}

TEST(NoGrad, NestsAndEnds)
{
    EXPECT_TRUE(grad_enabled());
    {
        const no_grad outer;
        {
            const no_grad inner;
        }
        EXPECT_FALSE(grad_enabled());
    }
    EXPECT_TRUE(grad_enabled());
}

TEST(Backward, TellsWhatItNeeds)
{
    const Variable v = variable({1, 2});
    const Caught nothing = error_of([] { return from_vector({1}).backward(), 0; });
    EXPECT_EQ(nothing.kind, ErrorKind::state);
    EXPECT_THAT(nothing.text, HasSubstr("does not require a gradient"));
    const Caught many = error_of([&] { return (v * v).backward(), 0; });
    EXPECT_EQ(many.kind, ErrorKind::shape);
    EXPECT_THAT(many.text, HasSubstr("[2]"));
    EXPECT_EQ(error_of([&] { return (v * v).backward(zeros({3})), 0; }).kind, ErrorKind::shape);
    EXPECT_FALSE(v.grad().defined());
}

TEST(Backward, TakesAGradientToStartFrom)
{
    const Variable v = variable({1, 2});
    (v * v).backward(from_vector({10, 100}));
    EXPECT_THAT(v.grad().to_vector<float>(), ElementsAre(20, 400));
}

TEST(Backward, OfALeafIsItsOwnGradient)
{
    const Variable v = variable({5});
    v.backward();
    EXPECT_THAT(v.grad().to_vector<float>(), ElementsAre(1));
}

TEST(Backward, TwiceNeedsTheGraph)
{
    const Variable v = variable({1, 2});
    const Tensor y = sum(exp(v));
    y.backward({}, {.retain_graph = true});
    const auto once = v.grad().to_vector<float>();
    y.backward();
    EXPECT_THAT(v.grad().to_vector<float>(), ElementsAre(2 * once[0], 2 * once[1]));
    const Caught third = error_of([&] { return y.backward(), 0; });
    EXPECT_EQ(third.kind, ErrorKind::state);
    EXPECT_THAT(third.text, HasSubstr("retain_graph"));
}

TEST(Backward, OfAPartThatWasUsedIsAnError)
{
    const Variable v = variable({1, 2});
    const Tensor shared = exp(v);
    sum(shared * 2).backward();
    EXPECT_EQ(error_of([&] { return sum(shared * 3).backward(), 0; }).kind, ErrorKind::state);
    EXPECT_NO_THROW(sum(exp(v)).backward()); // a new graph of the same leaf
}

TEST(Grad, OfAnotherGraphIsUntouchedByReleasing)
{
    const Variable v = variable({2});
    const Tensor a = v * v, b = v * v * v;
    a.backward();
    b.backward();
    EXPECT_THAT(v.grad().to_vector<float>(), ElementsAre(4 + 12));
}

TEST(Grad, CanBeSetAndCleared)
{
    Variable v = variable({1, 2});
    EXPECT_FALSE(v.grad().defined());
    v.set_grad(from_vector({7, 8}));
    sum(v * 1).backward();
    EXPECT_THAT(v.grad().to_vector<float>(), ElementsAre(8, 9));
    v.zero_grad();
    EXPECT_FALSE(v.grad().defined());
    EXPECT_EQ(error_of([&] { return v.set_grad(zeros({3})), 0; }).kind, ErrorKind::shape);
    v.set_grad({});
    EXPECT_FALSE(v.grad().defined());
}

TEST(Grad, BelongsToEveryHandleOfALeaf)
{
    const Variable v = variable({1});
    const Tensor other = v;
    (other * 3).backward();
    EXPECT_THAT(v.grad().to_vector<float>(), ElementsAre(3));
}

} // namespace
} // namespace reprise
