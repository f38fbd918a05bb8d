// Functions with gradients of their own, in ops, and other gradients for ops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "graph/notes.hpp"
#include "shape/error_of.hpp"
#include "support/devices.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using test::floats;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;
using Tensors = std::vector<Tensor>;

using test::values;

CustomFunction my_exp()
{
    return {"my_exp",
            [](FunctionContext& c, const Tensors& in) {
                const Tensor y = exp(in[0]);
                c.save_for_backward({y});
                return Tensors{y};
            },
            [](const FunctionContext& c, const Tensors& dy) { return Tensors{dy[0] * c.saved(0)}; }};
}

// a * b and a + b, with the gradient of a tripled.
CustomFunction product_and_sum()
{
    return {"product_and_sum",
            [](FunctionContext& c, const Tensors& in) {
                c.save_for_backward(in);
                return Tensors{in[0] * in[1], in[0] + in[1]};
            },
            [](const FunctionContext& c, const Tensors& dy) {
                return Tensors{(dy[0] * c.saved(1) + dy[1]) * 3, dy[0] * c.saved(0) + dy[1]};
            }};
}

TEST(CustomFunction, HasItsOwnGradient)
{
    Variable a(values({2, 3})), b(values({5, 7}));
    const auto out = product_and_sum().call({a, b});
    EXPECT_THAT(floats(out[0]), ElementsAre(10, 21));
    EXPECT_THAT(floats(out[1]), ElementsAre(7, 10));
    EXPECT_EQ(out[0].grad_fn().operation(), "product_and_sum");
    sum(out[0] + out[1] * 10).backward();
    EXPECT_THAT(floats(a.grad()), ElementsAre(45, 51));
    EXPECT_THAT(floats(b.grad()), ElementsAre(12, 13));
}

TEST(CustomFunction, GetsZerosForOutputsThatNothingReads)
{
    Variable a(values({2})), b(values({5}));
    sum(product_and_sum().call({a, b})[1]).backward();
    EXPECT_THAT(floats(a.grad()), ElementsAre(3));
    EXPECT_THAT(floats(b.grad()), ElementsAre(1));
}

TEST(CustomFunction, PassesTheGradientChecks)
{
    const CustomFunction f = my_exp();
    const auto call = [&](const Tensors& in) { return f(in[0]) * in[0]; };
    const GradCheck once = gradcheck(call, {rand({2, 3})}), twice = gradgradcheck(call, {rand({2, 3})});
    EXPECT_TRUE(once.passed) << once.message;
    EXPECT_TRUE(twice.passed) << twice.message;
    const CustomFunction wrong = product_and_sum();
    const GradCheck caught =
        gradcheck([&](const Tensors& in) { return wrong(in[0], in[1]); }, {rand({2, 3}), rand({2, 3})});
    EXPECT_FALSE(caught.passed);
    EXPECT_THAT(caught.message, HasSubstr("input 0"));
}

TEST(CustomFunction, HasGradientsOfEveryOrder)
{
    const CustomFunction f = my_exp();
    Function g = [&](const Tensor& x) { return sum(f(x)); };
    for (int order = 1; order <= 3; ++order) {
        EXPECT_THAT(floats(grad(g, values({0.5f}))), Pointwise(FloatNear(1e-6f), {std::exp(0.5f)}));
        g = [g](const Tensor& x) { return sum(grad(g, x)); };
    }
    const auto j = jvp([&](const Tensor& x) { return f(x); }, values({0, 1}), values({2, 1}));
    EXPECT_THAT(floats(j.second), Pointwise(FloatNear(1e-5f), {2.0f, std::exp(1.0f)}));
    EXPECT_THAT(floats(hessian([&](const Tensor& x) { return sum(f(x)); }, values({0, 0}))),
                ElementsAre(1, 0, 0, 1));
}

TEST(CustomFunction, OpensItsBodyWhileRecordingOnly)
{
    int forward = 0, backward = 0;
    const CustomFunction f(
        "counted",
        [&](FunctionContext& c, const Tensors& in) {
            ++forward;
            c.data = 3.0;
            c.save_for_backward({in[0], in[0] * 2}); // an input, and a constant
            return Tensors{in[0] * in[0]};
        },
        [&](const FunctionContext& c, const Tensors& dy) {
            ++backward;
            return Tensors{dy[0] * (c.saved(0) + c.saved(1)) * std::any_cast<double>(c.data)};
        });
    Variable w(values({2}));
    const auto step = record(
        [&](Tensor x) {
            w.zero_grad();
            sum(f(x * w)).backward();
            return w.grad();
        },
        {spec({symbol("n")})});
    EXPECT_THAT(floats(step(values({1}))), ElementsAre(18));
    EXPECT_THAT(floats(step(values({1, 2}))), ElementsAre(18 + 72));
    EXPECT_EQ(forward, 1);
    EXPECT_EQ(backward, 1);
    const auto recorded = record([&](Tensor x) { return step(x) * 2; }, {spec({3})}); // as a part of another
    EXPECT_THAT(floats(recorded(values({1, 2, 0}))), ElementsAre(180));
    EXPECT_EQ(forward, 1);
}

TEST(CustomFunction, CantReadAValueOfARecording)
{
    const CustomFunction f(
        "reads", [](FunctionContext&, const Tensors& in) { return Tensors{in[0] * in[0].item<float>()}; },
        [](const FunctionContext&, const Tensors& dy) { return dy; });
    const Caught error = error_of([&] { return record([&](Tensor x) { return f(x); }, {spec({1})}); });
    EXPECT_EQ(error.kind, ErrorKind::state);
    EXPECT_THAT(error.text, HasSubstr("recorded"));
    EXPECT_THAT(floats(f(values({3}))), ElementsAre(9)); // in eager code it may
}

TEST(CustomFunction, IsOffTheTapeWhereNothingRequiresAGradient)
{
    EXPECT_FALSE(my_exp()(values({1})).requires_grad());
    const no_grad off;
    EXPECT_FALSE(my_exp()(Variable(values({1}))).requires_grad());
}

TEST(CustomFunction, AsksForTheGradientsThatAreWanted)
{
    std::vector<bool> asked;
    const CustomFunction f(
        "asks",
        [](FunctionContext&, const Tensors& in) {
            return Tensors{in[0] + in[1], argmax(in[0], 0)};
        },
        [&](const FunctionContext& c, const Tensors& dy) {
            asked = {c.needs_input_grad(0), c.needs_input_grad(1)};
            EXPECT_FALSE(dy[1].defined()); // of what is not floating
            return Tensors{dy[0], Tensor()};
        });
    Variable a(values({1, 2}));
    const auto out = f.call({a, values({3, 4})});
    EXPECT_FALSE(out[1].requires_grad());
    sum(out[0]).backward();
    EXPECT_THAT(asked, ElementsAre(true, false));
    EXPECT_THAT(floats(a.grad()), ElementsAre(1, 1));
}

TEST(CustomFunction, TellsWhatDoesNotFit)
{
    const auto with = [](CustomFunction::Backward backward) {
        Variable x(values({1, 2}));
        const CustomFunction f(
            "mine", [](FunctionContext&, const Tensors& in) { return Tensors{in[0] * 2}; },
            std::move(backward));
        return error_of([&] { return sum(f(x)).backward(), 0; });
    };
    const Caught count = with([](const FunctionContext&, const Tensors&) { return Tensors{}; });
    EXPECT_EQ(count.kind, ErrorKind::argument);
    EXPECT_THAT(count.text, HasSubstr("[mine]"));
    EXPECT_EQ(with([](const FunctionContext&, const Tensors&) { return Tensors{ones({3})}; }).kind,
              ErrorKind::shape);
    EXPECT_EQ(with([](const FunctionContext& c, const Tensors&) { return Tensors{c.saved(0)}; }).kind,
              ErrorKind::argument);
    EXPECT_EQ(error_of([] { return CustomFunction("none", nullptr, nullptr).name(); }).kind,
              ErrorKind::argument);
    const CustomFunction empty(
        "empty", [](FunctionContext&, const Tensors&) { return Tensors{}; },
        [](const FunctionContext&, const Tensors& dy) { return dy; });
    EXPECT_EQ(error_of([&] { return empty(values({1})); }).kind, ErrorKind::argument);
}

TEST(CustomFunction, GivesItsMemoryBack)
{
    const auto step = [] {
        Variable x(values({1, 2, 3, 4}));
        const Tensor y = my_exp()(x); // saves its own output
        y.eval();
        sum(y).backward();
        x.grad().eval();
        default_device().synchronize();
    };
    step();
    const std::uint64_t before = default_device().live_bytes();
    for (int i = 0; i < 3; ++i) step();
    EXPECT_EQ(default_device().live_bytes(), before);
}

// More inputs than a word has bits: all of them are read by the gradient, and computed only for it.
TEST(CustomFunction, TakesAndSavesManyTensors)
{
    constexpr std::size_t count = 200;
    const CustomFunction squares(
        "squares",
        [](FunctionContext& c, const Tensors& in) {
            c.save_for_backward(in);
            Tensor total = in[0] * in[0];
            for (std::size_t i = 1; i < in.size(); ++i) total = total + in[i] * in[i];
            return Tensors{total};
        },
        [](const FunctionContext& c, const Tensors& dy) {
            Tensors out;
            for (std::size_t i = 0; i < count; ++i) out.push_back(dy[0] * c.saved(i) * 2);
            return out;
        });
    Variable x(values({0.5f, 2}));
    Tensors many;
    for (std::size_t i = 0; i < count; ++i) many.push_back(x * static_cast<double>(i));
    const Tensor y = squares.call(many)[0];
    y.eval();
    sum(y).backward();
    constexpr float sum_of_squares = 199.0f * 200 * 399 / 6;
    EXPECT_THAT(floats(x.grad()), Pointwise(FloatNear(2), {sum_of_squares, 4 * sum_of_squares}));
}

TEST(OverrideGradient, HoldsInItsScope)
{
    Variable x(values({0.4f, 1.6f}));
    const auto slope = [&] { return floats(grad(sum(round(x) * 2), x, {.allow_unused = true})); };
    {
        const override_gradient straight("round", [](const OverriddenOp& op) { return op.cotangents; });
        EXPECT_THAT(slope(), ElementsAre(2, 2));
        {
            const override_gradient steeper("round", [](const OverriddenOp& op) {
                return Tensors{op.cotangents[0] * op.inputs[0] + op.outputs[0]};
            });
            EXPECT_THAT(slope(), Pointwise(FloatNear(1e-6f), {0.8f, 5.2f}));
        }
        EXPECT_THAT(slope(), ElementsAre(2, 2));
    }
    EXPECT_THAT(slope(), ElementsAre(0, 0));
}

TEST(OverrideGradient, BelongsToWhatIsCalledInTheScope)
{
    Variable x(values({-1, 2}));
    Tensor inside, outside = relu(x);
    {
        const override_gradient leaky("relu", [](const OverriddenOp& op) { return op.cotangents; });
        inside = relu(x);
        EXPECT_THAT(floats(grad(sum(outside), x, {.retain_graph = true})), ElementsAre(0, 1));
    }
    EXPECT_THAT(floats(grad(sum(inside), x)), ElementsAre(1, 1));
    EXPECT_THAT(floats(grad(sum(outside), x)), ElementsAre(0, 1));
    const Caught unknown = error_of([] {
        const override_gradient none("no_such_op", nullptr);
        return 0;
    });
    EXPECT_EQ(unknown.kind, ErrorKind::argument);
    EXPECT_THAT(unknown.text, HasSubstr("no_such_op"));
}

// Gives `exp` a gradient that counts how often an evaluation asks what it reads.
struct Counting final : graph::Scope {
    struct Given final : graph::GivenGradient {
        mutable int asked = 0;
        Tensors vjp(const graph::VjpArguments& a) const override { return {a.cotangents[0]}; }
        graph::Reads reads(const graph::Node&) const override { return ++asked, graph::Reads{}; }
    };
    std::shared_ptr<Given> given = std::make_shared<Given>();
    std::shared_ptr<const graph::GivenGradient> gradient_of(const graph::Op& op) const override
    {
        return op.name == std::string("exp") ? given : nullptr;
    }
};

// The op that makes the queue long is evaluated while it is called: its gradient must be known by then.
TEST(OverrideGradient, IsThereWhenTheOpIsQueued)
{
    const test::UseDevice use(test::open(device::make_reference_device()));
    const Variable x(values({1, 2}));
    std::vector<Tensor> many;
    for (int i = 1; i < 4096; ++i) many.push_back(x + static_cast<double>(i));
    const Counting counting;
    const Tensor y = exp(x);
    EXPECT_EQ(counting.given->asked, 1);
    EXPECT_THAT(floats(grad(sum(y), x)), ElementsAre(1, 1));
}

// What a VJP reads is found by running it: nothing of the user's takes part.
TEST(OverrideGradient, IsNotCalledByAnEvaluation)
{
    const Variable x(from_vector(std::vector<float>{1, 2, 4, 8, 3, 5, 7, 6}, {1, 4, 2}));
    const Tensor g = grad(sum(group_norm(x, 2) * x), x, {.create_graph = true});
    int calls = 0;
    const override_gradient counting("mul", [&](const OverriddenOp& op) {
        ++calls;
        return Tensors{op.cotangents[0] * op.inputs[1], op.cotangents[0] * op.inputs[0]};
    });
    g.eval();
    EXPECT_EQ(calls, 0);
    static_cast<void>(floats(grad(sum(g), x))); // of ops that were called before
    EXPECT_EQ(calls, 0);
}

TEST(OverrideGradient, InAProgram)
{
    const auto f = record(
        [](Tensor x) {
            const override_gradient straight("round", [](const OverriddenOp& op) { return op.cotangents; });
            return grad([](const Tensor& t) { return sum(round(t) * t); }, x); // round(t) + t
        },
        {spec({symbol("n")})});
    EXPECT_THAT(floats(f(values({1.25f, 2.75f}))), ElementsAre(2.25f, 5.75f));
}

// Values and gradients of torch 2's function of that name.
TEST(FakeQuantize, FollowsPyTorch)
{
    Variable x(values({-10, -1.3f, -0.25f, 0, 0.05f, 0.15f, 0.25f, 3.2f, 12.6f, 12.8f, 100}));
    const Tensor y = fake_quantize_per_tensor_affine(x, 0.1, 10, 0, 128);
    y.backward(ones({11}));
    EXPECT_THAT(floats(y), Pointwise(FloatNear(1e-6f), std::vector<float>{-1, -1, -0.2f, 0, 0, 0.2f, 0.2f,
                                                                          3.2f, 11.8f, 11.8f, 11.8f}));
    EXPECT_THAT(floats(x.grad()), ElementsAre(0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0));
}

// Each channel, here a column, has its range: -8 to 7, less its zero point, times its scale.
TEST(FakeQuantize, OfChannelsPassesGradientsWithinTheirRange)
{
    const Tensor scale = values({0.1f, 0.5f}), zero_point = from_vector<std::int32_t>({0, 2}, {2});
    Variable x(reshape(values({-0.9f, -5.3f, -0.8f, -4.9f, 0.31f, 0.6f, 0.7f, 2.4f, 0.8f, 2.9f}), {5, 2}));
    const Tensor y = fake_quantize_per_channel_affine(x, scale, zero_point, 1, -8, 7);
    y.backward(reshape(arange(1, 11, {.dtype = f32}), {5, 2}));
    EXPECT_THAT(floats(y), Pointwise(FloatNear(1e-6f), std::vector<float>{-0.8f, -5, -0.8f, -5, 0.3f, 0.5f,
                                                                          0.7f, 2.5f, 0.7f, 2.5f}));
    EXPECT_THAT(floats(x.grad()), ElementsAre(0, 0, 3, 4, 5, 6, 7, 8, 0, 0));
}

TEST(FakeQuantize, TellsWhatDoesNotFit)
{
    EXPECT_EQ(error_of([] { return fake_quantize_per_tensor_affine(values({1}), 0, 0, -128, 127); }).kind,
              ErrorKind::argument);
    EXPECT_EQ(error_of([] { return fake_quantize_per_tensor_affine(values({1}), 0.1, 200, -128, 127); }).kind,
              ErrorKind::argument);
    EXPECT_EQ(error_of([] { return fake_quantize_per_tensor_affine(arange(3), 0.1, 0, -128, 127); }).kind,
              ErrorKind::dtype);
}

} // namespace
} // namespace reprise
