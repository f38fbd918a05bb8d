// PyTorch's names for what autograd does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/autograd.hpp>
#include <reprise/dynamic.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "shape/error_of.hpp"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Names, OfModes)
{
    const Variable x(from_vector({2.0F}));
    {
        const NoGradGuard off;
        EXPECT_FALSE((x * x).requires_grad());
        const AutoGradMode on(true);
        EXPECT_TRUE((x * x).requires_grad());
        const AutoGradMode off_again(false);
        EXPECT_FALSE((x * x).requires_grad());
    }
    EXPECT_TRUE(grad_enabled());
}

TEST(Names, OfGrad)
{
    const Variable x(from_vector({2.0F, 3.0F})), unused(from_vector({1.0F}));
    const Tensor y = x * x * x;
    EXPECT_THAT(autograd::grad({sum(y)}, {x}, {}, true)[0].to_vector<float>(), ElementsAre(12, 27));
    const Tensor first = autograd::grad({y}, {x}, {ones_like(y)}, std::nullopt, true)[0];
    EXPECT_THAT(autograd::grad({sum(first)}, {x})[0].to_vector<float>(), ElementsAre(12, 18));
    EXPECT_FALSE(autograd::grad({sum(x)}, {unused}, {}, std::nullopt, false, true)[0].defined());
    EXPECT_EQ(error_of([&] { return autograd::grad({sum(x)}, {unused}); }).kind, ErrorKind::argument);
}

TEST(Names, OfBackwardsOptions)
{
    Variable x(from_vector({2.0F}));
    const Tensor y = x * x * x;
    y.backward({}, true);
    y.backward({}, /*retain_graph=*/true, /*create_graph=*/true);
    EXPECT_EQ(x.grad().item<float>(), 24);
    const Tensor slope = x.grad();
    x.zero_grad();
    slope.backward({}, true);
    EXPECT_EQ(x.grad().item<float>(), 12) << "of the second pass, which was on the tape";
    y.backward({}, false);
    EXPECT_EQ(error_of([&] {
                  y.backward();
                  return 0;
              }).kind,
              ErrorKind::state)
        << "released";
}

TEST(Names, OfHooksThatGiveNothing)
{
    Variable x(from_vector({2.0F}));
    std::vector<float> seen;
    const HookHandle handle = x.register_hook([&](const Tensor& g) { seen.push_back(g.item<float>()); });
    x.register_hook([](Tensor g) { return g * 10; });
    (x * x).backward();
    EXPECT_THAT(seen, ElementsAre(4));
    EXPECT_EQ(x.grad().item<float>(), 40);
    handle.remove();
    (x * x).backward();
    EXPECT_EQ(seen.size(), 1u);
}

TEST(GradStore, HasWhatLiesBetween)
{
    const Variable x(from_vector({2.0F, 3.0F}));
    const Tensor between = x * x, other = between * 2, loss = sum(other);
    between.retain_grad();
    const GradStore g = loss.gradients({.retain_graph = true});
    EXPECT_THAT(g.get(between).to_vector<float>(), ElementsAre(2, 2));
    EXPECT_THAT(g.get(x).to_vector<float>(), ElementsAre(8, 12));
    EXPECT_EQ(g.get(loss).item<float>(), 1);
    EXPECT_FALSE(g.contains(other)) << "it was not told";
    EXPECT_FALSE(between.grad().defined());
    EXPECT_EQ(Variable(from_vector({1.0F})).gradients().size(), 1u) << "a root that is a leaf comes once";
}

TEST(Contexts, ListTheirSavedTensors)
{
    std::size_t in_forward = 0, in_backward = 0;
    const CustomFunction square(
        "square_of_names",
        [&](FunctionContext& c, const std::vector<Tensor>& in) {
            c.save_for_backward({in[0], in[0] * 2});
            in_forward = c.get_saved_variables().size();
            return std::vector{in[0] * in[0]};
        },
        [&](const FunctionContext& c, const std::vector<Tensor>& dy) {
            in_backward = c.get_saved_variables().size();
            return std::vector{dy[0] * c.saved(1)};
        });
    Variable x(from_vector({3.0F}));
    square(x).backward();
    EXPECT_EQ(x.grad().item<float>(), 6);
    EXPECT_EQ(in_forward, 2u);
    EXPECT_EQ(in_backward, 2u);

    DynamicAutogradContext context;
    context.save_for_backward({x, x * 2});
    ASSERT_EQ(context.get_saved_tensors().size(), 2u);
    EXPECT_EQ(context.get_saved_tensors()[1].item<float>(), 6);
    context.close();
    EXPECT_EQ(error_of([&] { return context.get_saved_tensors().size(); }).kind, ErrorKind::state);
}

TEST(Gradients, ThatAProgramDoesNotKeepSaySo)
{
    Variable w(from_vector({1.0F}));
    const auto function = [&](Tensor x) {
        w.zero_grad();
        const Tensor loss = sum(x * w);
        loss.backward();
        return loss.detach();
    };
    const auto step = record(function, {spec({2})});
    step(ones({2}));
    EXPECT_FALSE(w.grad().defined());
    EXPECT_THAT(error_of([&] { return w.grad().item<float>(); }).text, HasSubstr("{.keep_grads = true}"));
    const auto keeping = record(function, {spec({2})}, {.keep_grads = true});
    keeping(ones({2}));
    EXPECT_EQ(w.grad().item<float>(), 2);
}

} // namespace
} // namespace reprise
