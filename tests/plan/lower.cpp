// Nodes become launches: views and numbers cost none, what can't be viewed is copied, state ends in its cell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>
#include <reprise/quantized.hpp>

#include "program/program.hpp"
#include "support/devices.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Lower : public testing::TestWithParam<const char*> {
protected:
    const plan::Plan& plan_of(const TracedFunction& f, const std::vector<Spec>& specs)
    {
        program = record_function(f, specs, {.fuse = false});
        return program.impl()->executable().compiled().plan;
    }
    std::vector<std::string> kernels(const TracedFunction& f, const std::vector<Spec>& specs)
    {
        std::vector<std::string> out;
        for (const plan::PlanLaunch& l : plan_of(f, specs).launches)
            if (l.fallback_of == plan::no_launch) out.push_back(l.kernel);
        return out;
    }
    Device device = test::imitation(GetParam());
    test::UseDevice use{device};
    Dim n = symbol("n");
    Program program;
};
INSTANTIATE_TEST_SUITE_P(Devices, Lower, testing::Values("lavapipe", "swiftshader", "gpu"),
                         [](const auto& test) { return test.param; });

TEST_P(Lower, OneLaunchForAnElementwiseOp)
{
    EXPECT_THAT(kernels([](const auto& in) { return std::vector<Tensor>{tanh(in[0] + in[1])}; },
                        {spec({n, 4}), spec({4})}),
                ElementsAre(HasSubstr("elementwise_add_fwd"), HasSubstr("elementwise_tanh_fwd")));
}

TEST_P(Lower, ViewsCostNoLaunch)
{
    EXPECT_THAT(kernels(
                    [](const auto& in) {
                        return std::vector<Tensor>{
                            exp(in[0].transpose(0, 1).narrow(0, 1, 2).unsqueeze(0).expand({3, -1, -1}))};
                    },
                    {spec({n, 4})}),
                ElementsAre(HasSubstr("elementwise_exp_fwd")));
}

TEST_P(Lower, WhatStridesCannotSayIsCopiedOnce)
{
    EXPECT_THAT(kernels(
                    [](const auto& in) {
                        const Tensor flat = in[0].t().reshape({-1}); // rows of a transposed matrix are no run
                        return std::vector<Tensor>{exp(flat), tanh(flat)};
                    },
                    {spec({n, 4})}),
                ElementsAre(HasSubstr("elementwise_cast_fwd"), HasSubstr("elementwise_exp_fwd"),
                            HasSubstr("elementwise_tanh_fwd")));
}

TEST_P(Lower, NumbersAreInTheRecordNotInMemory)
{
    const plan::Plan& plan = plan_of(
        [](const auto& in) {
            return std::vector<Tensor>{in[0] * full({}, 3.5) + host_scalar([] { return 2.0; })};
        },
        {spec({n})});
    EXPECT_THAT(plan.launches[0].kernel, HasSubstr("elementwise_mul_fwd"));
    EXPECT_EQ(plan.launches[0].floats.at(1).constant, 3.5);
    EXPECT_TRUE(plan.launches[0].operands.at(1).absent);
    bool host = false;
    for (const plan::PlanLaunch& l : plan.launches)
        for (const ops::Scalar& f : l.floats) host = host || f.source != nullptr;
    EXPECT_TRUE(host);
}

TEST_P(Lower, GridsAreExpressionsOfTheSymbols)
{
    const plan::Plan& plan =
        plan_of([](const auto& in) { return std::vector<Tensor>{exp(in[0])}; }, {spec({n, 3})});
    EXPECT_EQ(plan.launches[0].groups.symbols(), n.symbols());
    EXPECT_EQ(plan.launches[0].groups.evaluate([](std::uint32_t) { return 0; }), 0);
    EXPECT_EQ(plan.values[plan.launches[0].operands.back().value].elements, n * 3);
}

TEST_P(Lower, VariantsThatServeSomeSizesAreRecordedSideBySide)
{
    const auto convolve = [](const auto& in) {
        return std::vector<Tensor>{conv2d(in[0], in[1], {}, {.padding = {1, 1}})};
    };
    const bool texels = std::string(GetParam()) == "lavapipe", gpu = std::string(GetParam()) == "gpu";
    const std::vector<std::string> whole = kernels(convolve, {spec({n, 4, 8, 8}), spec({8, 4, 3, 3})});
    EXPECT_EQ(std::count(whole.begin(), whole.end(), "conv2d_direct_texel"), texels ? 1 : 0);
    EXPECT_EQ(whole.size() == 1, texels || gpu) << "a width that is known needs no other variant";

    constexpr std::int64_t height = 6;
    const plan::Plan& plan = plan_of(convolve, {spec({2, 4, height, n}), spec({8, 4, 3, 3})});
    for (const std::int64_t width : {4, 5, 8, 36}) {
        std::int64_t direct = 0, patches = 0, tiles = 0;
        for (const plan::PlanLaunch& l : plan.launches) {
            const bool runs = l.groups.evaluate([&](std::uint32_t) { return width; }) > 0;
            if (l.kernel.starts_with("conv2d_direct")) direct += runs;
            if (l.kernel.starts_with("im2col")) patches += runs;
            if (l.kernel.starts_with("conv_tile")) tiles += runs;
        }
        EXPECT_EQ(direct > 0, texels && height * width % 4 == 0) << width;
        EXPECT_EQ(patches > 0, !gpu && !(texels && height * width % 4 == 0)) << width;
        EXPECT_EQ(tiles, gpu ? 1 : 0) << width;
    }
}

TEST_P(Lower, AnUnusedResultIsNotComputed)
{
    EXPECT_THAT(kernels(
                    [](const auto& in) {
                        static_cast<void>(exp(in[0]));
                        return std::vector<Tensor>{tanh(in[0])};
                    },
                    {spec({n})}),
                ElementsAre(HasSubstr("elementwise_tanh_fwd")));
}

TEST_P(Lower, StateIsUpdatedInPlace)
{
    Variable v(zeros({8}));
    EXPECT_THAT(kernels(
                    [&](const auto& in) {
                        const no_grad guard;
                        v.assign(v + in[0]);
                        return std::vector<Tensor>{};
                    },
                    {spec({8})}),
                ElementsAre(HasSubstr("elementwise_add_fwd")));
    const plan::Plan& plan = program.impl()->executable().compiled().plan;
    const plan::PlanLaunch& add = plan.launches.front();
    EXPECT_EQ(add.operands[0].value, add.operands[2].value);
    EXPECT_EQ(plan.values[add.operands[0].value].place, plan::Place::external);
}

TEST_P(Lower, AMatrixProductIsOneLaunchWhereItsOperandsLieWell)
{
    EXPECT_THAT(kernels([](const auto& in) { return std::vector<Tensor>{matmul(in[0], in[1])}; },
                        {spec({n, 16}), spec({16, 32})}),
                ElementsAre(HasSubstr("gemm")));
}

TEST_P(Lower, TexelLaunchesHaveAFallback)
{
    const plan::Plan& plan =
        plan_of([](const auto& in) { return std::vector<Tensor>{log_softmax(matmul(in[0], in[1]), 1)}; },
                {spec({n, 16}), spec({16, 32})});
    for (std::size_t i = 0; i < plan.launches.size(); ++i) {
        if (!plan.launches[i].texels) continue;
        ASSERT_LT(i + 1, plan.launches.size());
        EXPECT_EQ(plan.launches[i + 1].fallback_of, i) << plan.launches[i].label;
    }
    EXPECT_EQ(std::string(GetParam()) == "lavapipe", std::any_of(plan.launches.begin(), plan.launches.end(),
                                                                 [](const auto& l) { return l.texels; }));
}

// Its product does not dequantise elements itself.
TEST(Lower, AQuantisedMatrixIsNeverWholeInTheMemoryOfSwiftShader)
{
    const Device device = test::imitation("swiftshader");
    const test::UseDevice use(device);
    for (const std::int64_t columns : {64, 252, 256, 1000}) {
        const QuantizedTensor q(zeros({columns, 512 / 32 * 34}, {.dtype = u8}), QuantizedFormat::q8_0);
        const Program p = record([&](Tensor x) { return linear(x, q); }, {spec({2, 512})});
        const auto whole = static_cast<std::uint64_t>(columns * 512 * 4);
        EXPECT_LE(p.memory({}).peak, whole / 4 + 32 * 512 * 4 + 8192) << columns;
    }
}

} // namespace
} // namespace reprise
