// Which elementwise launches become one, and which must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "program/program.hpp"
#include "support/devices.hpp"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Tensors = std::vector<Tensor>;

class Fuse : public testing::TestWithParam<const char*> {
protected:
    const plan::Plan& plan_of(const TracedFunction& f, const std::vector<Spec>& specs)
    {
        program = record_function(f, specs);
        return program.impl()->executable().compiled().plan;
    }
    // What each launch does, fallbacks left out: "mul+add", or the kernel's name where it is of no chain.
    std::vector<std::string> launches(const TracedFunction& f, const std::vector<Spec>& specs)
    {
        std::vector<std::string> out;
        for (const plan::PlanLaunch& l : plan_of(f, specs).launches)
            if (l.fallback_of == plan::no_launch)
                out.push_back(l.chain ? kernels::label_of(*l.chain) : l.kernel);
        return out;
    }
    Device device = test::imitation(GetParam());
    test::UseDevice use{device};
    Dim n = symbol("n");
    Program program;
};
INSTANTIATE_TEST_SUITE_P(Devices, Fuse, testing::Values("lavapipe", "swiftshader", "gpu"),
                         [](const auto& test) { return test.param; });

TEST_P(Fuse, AChainIsOneLaunchAndItsValuesHaveNoMemory)
{
    EXPECT_THAT(launches([](const auto& in) { return Tensors{relu(in[0] * in[1] + 2)}; },
                         {spec({n, 4}), spec({n, 4})}),
                ElementsAre("mul+add+relu"));
    EXPECT_EQ(program.arena_bytes({100}), 0u);
}

TEST_P(Fuse, WhatOthersReadIsStoredByTheWay)
{
    EXPECT_THAT(launches(
                    [](const auto& in) {
                        const Tensor y = tanh(in[0] + in[1]);
                        return Tensors{matmul(y, in[2]), y * 2};
                    },
                    {spec({n, 4}), spec({n, 4}), spec({4, 4})}),
                ElementsAre("add+tanh+mul", HasSubstr("gemm")));
}

TEST_P(Fuse, ALaunchBetweenThatNeedsOneAndMakesTheOtherSeparatesThem)
{
    const auto list = launches(
        [](const auto& in) {
            const Tensor y = exp(in[0]);
            return Tensors{relu(matmul(y, in[1])).mT() + y};
        },
        {spec({4, 4}), spec({4, 4})});
    if (GetParam() == std::string("gpu"))
        EXPECT_THAT(list, ElementsAre("exp", "relu", "add")); // relu in the product
    else EXPECT_THAT(list, ElementsAre("exp", HasSubstr("gemm"), "relu", "add"));
}

TEST_P(Fuse, ReshapesAndRepeatedRowsAreNoObstacle)
{
    EXPECT_THAT(launches(
                    [this](const auto& in) {
                        const Tensor y = (in[0] + in[1]).reshape({n * 3, 4}); // [n, 3, 4] + [4]
                        return Tensors{relu(y) * in[1]};
                    },
                    {spec({n, 3, 4}), spec({4})}),
                ElementsAre("add+relu+mul"));
}

TEST_P(Fuse, AnotherElementThanTheOwnIsReadFromMemory)
{
    EXPECT_THAT(launches(
                    [](const auto& in) {
                        const Tensor y = exp(in[0]);
                        return Tensors{y + y.t()};
                    },
                    {spec({4, 4})}),
                ElementsAre("exp", "add"));
    EXPECT_THAT(launches(
                    [](const auto& in) {
                        const Tensor y = exp(in[0]);
                        return Tensors{y * y.narrow(0, 0, 1)};
                    },
                    {spec({n, 4})}),
                ElementsAre("exp", "mul"));
}

TEST_P(Fuse, ALaunchThatSharesInputsJoinsItsNeighbour)
{
    EXPECT_THAT(launches(
                    [](const auto& in) {
                        return Tensors{exp(in[0]), in[0] * in[1]};
                    },
                    {spec({n}), spec({n})}),
                ElementsAre("exp+mul"));
}

TEST_P(Fuse, TheSameStepIsTakenOnce)
{
    EXPECT_THAT(launches([](const auto& in) { return Tensors{exp(in[0]) * in[1] + exp(in[0])}; },
                         {spec({n}), spec({n})}),
                ElementsAre("exp+mul+add"));
}

TEST_P(Fuse, OneStepMayHaveSeveralResults)
{
    EXPECT_THAT(launches(
                    [](const auto& in) {
                        const Tensor a = exp(in[0]), b = exp(in[0]);
                        return Tensors{matmul(a, in[1]), matmul(b, in[1])};
                    },
                    {spec({n, 4}), spec({4, 4})}),
                ElementsAre("exp", HasSubstr("gemm"), HasSubstr("gemm")));
    const plan::PlanLaunch& l = program.impl()->executable().compiled().plan.launches[0];
    EXPECT_EQ(std::count_if(l.operands.begin(), l.operands.end(), plan::writes), 2);
}

TEST_P(Fuse, StateThatIsReadElsewhereInTheKernelIsNotOverwrittenByIt)
{
    Variable v(ones({8, 4}), false);
    EXPECT_EQ(launches(
                  [&](const auto& in) {
                      const Tensor out = in[0] + v.narrow(0, 0, 1);
                      v.assign(v * 2);
                      return Tensors{out};
                  },
                  {spec({8, 4})})
                  .size(),
              2u);
}

TEST_P(Fuse, StateThatIsReadElementForElementIsOverwrittenBesideARepeatedNumber)
{
    Variable v(ones({8, 4}), false);
    EXPECT_THAT(launches(
                    [&](const auto& in) {
                        v.assign(v + cast(in[0].expand({8, 4}) == 0, f32));
                        return Tensors{};
                    },
                    {spec({1})}),
                ElementsAre("eq+cast+add"));
}

TEST_P(Fuse, StateThatARepeatedRowIsAddedToIsUpdatedByOneLaunch)
{
    Variable v(ones({8, 4}), false);
    EXPECT_EQ(launches(
                  [&](const auto& in) {
                      v.assign(v + in[0]);
                      return Tensors{};
                  },
                  {spec({4})})
                  .size(),
              1u);
}

TEST_P(Fuse, StateThatIsAlsoReadAsARowIsNotOverwritten)
{
    Variable v(ones({4, 4}), false);
    EXPECT_EQ(launches(
                  [&](const auto& in) {
                      v.assign((v + v.narrow(0, 0, 1)) * in[0]);
                      return Tensors{};
                  },
                  {spec({4, 4})})
                  .size(),
              2u);
}

TEST_P(Fuse, AChainForOneReductionGoesIntoIt)
{
    EXPECT_THAT(launches([](const auto& in) { return Tensors{sum(square(in[0] - in[1]), {1})}; },
                         {spec({n, 8}), spec({n, 8})}),
                ElementsAre("sub+square"));
    EXPECT_EQ(program.arena_bytes({100}), 0u);
}

TEST_P(Fuse, AChainThatOthersReadStaysBeforeItsReduction)
{
    EXPECT_THAT(launches(
                    [](const auto& in) {
                        const Tensor y = square(in[0] - in[1]);
                        return Tensors{sum(y, {1}), y};
                    },
                    {spec({n, 8}), spec({n, 8})}),
                ElementsAre("sub+square", HasSubstr("sum")));
}

// Products of other devices than GPUs compute no chains.
TEST_P(Fuse, AChainOfAProductOnAGpuGoesIntoIt)
{
    const std::vector<Spec> specs = {spec({n, 8}), spec({8, 12}), spec({12})};
    const auto linear = [](const auto& in) {
        const Tensor y = matmul(in[0], in[1]) + in[2];
        return Tensors{relu(y), y};
    };
    const bool joins = GetParam() == std::string("gpu");
    if (joins) EXPECT_THAT(launches(linear, specs), ElementsAre("add+relu"));
    else EXPECT_THAT(launches(linear, specs), ElementsAre(HasSubstr("gemm"), "add+relu"));

    // The result of the product is read elsewhere, too: it is stored by the way, unless the chain comes much later.
    const auto kept = [](const auto& in) {
        const Tensor y = matmul(in[0], in[1]);
        return Tensors{y + in[2], y};
    };
    if (joins) EXPECT_THAT(launches(kept, specs), ElementsAre("add"));
    else EXPECT_THAT(launches(kept, specs), ElementsAre(HasSubstr("gemm"), "add"));
    const auto late = [](const auto& in) {
        const Tensor y = matmul(in[0], in[1]);
        Tensor other = in[1];
        for (int i = 0; i < 4; ++i) other = softmax(other, 0) * 2; // two launches each
        return Tensors{y, other, y + in[2]};
    };
    EXPECT_THAT(launches(late, specs), testing::Contains("add"));
    // Two products, of which one is the input of the other's chain.
    const auto gated = [](const auto& in) {
        const Tensor a = matmul(in[0], in[1]), b = matmul(in[0], in[1] * 2);
        return Tensors{silu(a) * b, a, b};
    };
    if (joins) EXPECT_THAT(launches(gated, specs), testing::Contains("silu+mul"));
    else EXPECT_THAT(launches(gated, specs), testing::Contains("silu+mul"));

    // A part of the result, which has fewer elements than the product stores, and two parts.
    const auto part = [](const auto& in) { return Tensors{relu(matmul(in[0], in[1]).narrow(0, 0, 2))}; };
    const std::vector<Spec> constant = {spec({64, 8}), spec({8, 12})};
    EXPECT_THAT(launches(part, constant), ElementsAre(HasSubstr("gemm"), "relu"));
    const auto halves = [](const auto& in) {
        const Tensor y = matmul(in[0], in[1]);
        return Tensors{y.narrow(0, 0, 32) * y.narrow(0, 32, 32)};
    };
    EXPECT_THAT(launches(halves, constant), ElementsAre(HasSubstr("gemm"), "mul"));
    // The chain reads what is computed after the product.
    const auto later = [](const auto& in) {
        const Tensor y = matmul(in[0], in[1]);
        return Tensors{y + sum(in[0], {0}).sum() + sum(in[2])};
    };
    EXPECT_THAT(launches(later, specs), testing::Contains(HasSubstr("gemm")));
}

TEST_P(Fuse, AChainOfAConvolutionOnAGpuGoesIntoIt)
{
    const bool joins = GetParam() == std::string("gpu");
    const std::vector<Spec> specs = {spec({n, 20, 8, 8}), spec({20, 20, 3, 3}), spec({20}), spec({20, 1, 1})};
    const auto convolved = [](const Tensors& in) { return conv2d(in[0], in[1], in[2], {.padding = {1, 1}}); };
    const auto residual = [&](const auto& in) { return Tensors{relu(convolved(in) + in[0])}; };
    if (joins) EXPECT_THAT(launches(residual, specs), ElementsAre("add+relu"));
    else EXPECT_THAT(launches(residual, specs), testing::Contains("add+relu"));
    // Of the gradient by the input, with strides and groups.
    const auto gradient = [](const auto& in) {
        const Variable x(in[0]);
        const Tensor y = conv2d(x, in[1], {}, {.stride = {2, 2}, .groups = 2});
        return Tensors{relu(grad(y, x, {.cotangents = {in[2]}}) + in[0])};
    };
    const std::vector<Spec> strided = {spec({n, 40, 9, 9}), spec({40, 20, 3, 3}), spec({n, 40, 4, 4})};
    if (joins) EXPECT_THAT(launches(gradient, strided), ElementsAre("add+relu"));
    else EXPECT_THAT(launches(gradient, strided), testing::Contains("add+relu"));
    // A number for each channel.
    const auto scaled = [&](const auto& in) { return Tensors{convolved(in) * in[3]}; };
    EXPECT_THAT(launches(scaled, specs), testing::Contains("mul"));
    EXPECT_GT(launches(scaled, specs).size(), 1u);
}

TEST_P(Fuse, LongChainsAreCut)
{
    const auto list = launches(
        [](const auto& in) {
            Tensor y = in[0];
            for (int i = 0; i < 100; ++i) y = i % 2 ? tanh(y) : y * in[1];
            return Tensors{y};
        },
        {spec({n}), spec({n})});
    EXPECT_EQ(list.size(), 3u); // of at most 48 steps
}

TEST_P(Fuse, ValuesThatNoOtherLaunchReadsAreNoOperands)
{
    EXPECT_EQ(launches(
                  [](const auto& in) {
                      Tensor y = in[0];
                      for (int i = 0; i < 40; ++i) y = i % 2 ? tanh(y) : y * in[1];
                      return Tensors{y};
                  },
                  {spec({n}), spec({n})})
                  .size(),
              1u);
}

TEST_P(Fuse, IsLeftOutWhereItIsNotWanted)
{
    program = record_function([](const auto& in) { return Tensors{relu(in[0] * 2)}; }, {spec({n})},
                              {.fuse = false});
    EXPECT_THAT(program.text(), testing::Not(HasSubstr(" + relu")));
}

} // namespace
} // namespace reprise
