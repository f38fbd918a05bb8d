// Anomaly mode names who made the first NaN, and where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include <reprise/autograd.hpp>
#include <reprise/nn.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using testing::HasSubstr;
using testing::Not;

using test::values;
std::string here(std::uint_least32_t line) { return "anomaly.cpp:" + std::to_string(line); }

TEST(Anomaly, NamesTheOpOfTheForwardPass)
{
    const Tensor x = values({4, -1, -2});
    EXPECT_NO_THROW((sqrt(x) * 2).eval());
    const detect_anomaly watch;
    const auto line = std::source_location::current().line() - 1;
    const Caught e = error_of([&] { return sqrt(x) * 2; });
    EXPECT_EQ(e.kind, ErrorKind::state);
    EXPECT_THAT(e.text, HasSubstr("[sqrt]"));
    EXPECT_THAT(e.text, HasSubstr("element (1)"));
    EXPECT_THAT(e.text, HasSubstr("f32[3]"));
    EXPECT_THAT(e.text, HasSubstr(here(line)));
}

// Attention by matrices computes no logarithms of sums for its gradient, and memory of NaNs is used again.
TEST(Anomaly, FindsNothingInAttention)
{
    (full({1 << 20}, std::numeric_limits<double>::quiet_NaN()) + 1).eval();
    const detect_anomaly watch;
    const Variable q(ones({2, 2, 8, 4}));
    EXPECT_NO_THROW(sum(scaled_dot_product_attention(q, q, q)).backward());
}

TEST(Anomaly, NamesTheLineThatWasMarkedLast)
{
    const detect_anomaly watch;
    const Tensor x = values({1, -1});
    mark_line();
    const Tensor y = x * 2;
    mark_line();
    const auto line = std::source_location::current().line() - 1;
    EXPECT_THAT(error_of([&] { return log(y); }).text, HasSubstr(here(line)));
}

TEST(Anomaly, NamesTheOpWhoseGradientItIs)
{
    const Variable x(values({0, 1}));
    const detect_anomaly watch;
    mark_line();
    const auto line = std::source_location::current().line() - 1;
    const Tensor y = sum(sqrt(x) * x.detach()); // 0 * inf
    mark_line();
    const Caught e = error_of([&] { return y.backward(), 0; });
    EXPECT_EQ(e.kind, ErrorKind::state);
    EXPECT_THAT(e.text, HasSubstr("[sqrt]"));
    EXPECT_THAT(e.text, HasSubstr("input (0)"));
    EXPECT_THAT(e.text, HasSubstr(here(line)));
    EXPECT_THAT(y.grad_fn().place(), HasSubstr(here(line)));
}

TEST(Anomaly, TellsWhereAnInputHadIt)
{
    const detect_anomaly watch;
    const Tensor x = values({1, std::numeric_limits<float>::quiet_NaN()});
    EXPECT_THAT(error_of([&] { return x * 2; }).text, HasSubstr("with nan at element 1"));
}

TEST(Anomaly, TakesInfinitiesForItWhereAsked)
{
    const Tensor x = values({0});
    {
        const detect_anomaly watch;
        EXPECT_NO_THROW(log(x));
    }
    const detect_anomaly watch({.infinities = true});
    EXPECT_THAT(error_of([&] { return log(x); }).text, HasSubstr("[log]"));
}

TEST(Anomaly, EndsWithItsObjectAndPassesWhatIsFinite)
{
    const Variable x(values({1, 2}));
    {
        const detect_anomaly watch;
        EXPECT_NO_THROW(sum(exp(x) * x).backward());
    }
    EXPECT_NO_THROW(sum(log(x * -1)).eval());
    EXPECT_TRUE((x * 2).grad_fn().place().empty());
}

TEST(Anomaly, KnowsTheCallOfAModule)
{
    struct Root : nn::Module {
        Tensor forward(Tensor x) override { return sqrt(x); }
    } root;
    const detect_anomaly watch;
    const auto line = std::source_location::current().line() + 1;
    const Caught e = error_of([&] { return root(values({-1})); });
    EXPECT_THAT(e.text, HasSubstr(here(line)));
    const Caught after = error_of([&] { return log(values({-1})); });
    EXPECT_THAT(after.text, Not(HasSubstr(here(line))));
}

TEST(Anomaly, HasNothingToLookAtWhileRecording)
{
    const detect_anomaly watch;
    const Caught e = error_of([] { return record([](Tensor x) { return x * 2; }, {spec({2})}); });
    EXPECT_EQ(e.kind, ErrorKind::state);
    EXPECT_THAT(e.text, HasSubstr("record()"));
}

} // namespace
} // namespace reprise
