// The gradient check finds what is wrong, and NaN is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/autograd.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/linear_algebra.hpp>

#include "ops/registry.hpp"
#include "support/vjp_mutation.hpp"

namespace reprise {
namespace {

using Inputs = std::vector<Tensor>;

TEST(GradCheck, PassesWhatIsRight)
{
    const GradCheck r = gradcheck([](const Inputs& in) { return tanh(matmul(in[0], in[1])) * in[2]; },
                                  {rand({3, 4}), rand({4, 2}), rand({2})});
    EXPECT_TRUE(r.passed) << r.message;
    EXPECT_LT(r.error, 1e-6);
}

TEST(GradCheck, FailsWhatIsSpoilt)
{
    const auto check = [] { return gradcheck([](const Inputs& in) { return exp(in[0]); }, {rand({5})}); };
    {
        const test::VjpMutation spoil(ops::row_op("exp"),
                                      [](std::size_t, const Tensor& g) { return g * 1.001; });
        const GradCheck r = check();
        EXPECT_FALSE(r.passed);
        EXPECT_THAT(r.message, testing::HasSubstr("input 0"));
    }
    EXPECT_TRUE(check().passed);
}

TEST(GradCheck, FailsOnNaN)
{
    EXPECT_FALSE(gradcheck([](const Inputs& in) { return log(in[0]); }, {from_vector({-1, 2})}).passed);
    const test::VjpMutation spoil(ops::row_op("exp"),
                                  [](std::size_t, const Tensor& g) { return g * (zeros_like(g) / 0.0); });
    EXPECT_FALSE(gradcheck([](const Inputs& in) { return exp(in[0]); }, {rand({5})}).passed);
}

TEST(GradCheck, NamesTheInputThatIsWrong)
{
    const test::VjpMutation spoil(ops::row_op("mul"),
                                  [](std::size_t input, const Tensor& g) { return input == 1 ? g * 7 : g; });
    const GradCheck r = gradcheck([](const Inputs& in) { return in[0] * in[1]; }, {rand({3}), rand({3})});
    EXPECT_FALSE(r.passed);
    EXPECT_THAT(r.message, testing::HasSubstr("input 1"));
}

TEST(GradCheck, PassesOverIntegersAndUnusedInputs)
{
    EXPECT_TRUE(gradcheck([](const Inputs& in) { return in[0] * cast(in[1], f64); },
                          {rand({3}), arange(3), rand({2})})
                    .passed);
}

} // namespace
} // namespace reprise
