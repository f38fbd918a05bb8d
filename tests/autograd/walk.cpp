// The reverse walk: sums of paths, gradients by any tensor, gradients of gradients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <reprise/autograd.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "shape/error_of.hpp"
#include "support/devices.hpp"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

Variable leaf_of(std::vector<float> v) { return Variable(from_vector(v)); }

TEST(Walk, AddsUpWhatArrivesOnSeveralPaths)
{
    const Variable a = leaf_of({2, 3}), b = leaf_of({5, 7});
    sum(a * a).backward();
    EXPECT_THAT(a.grad().to_vector<float>(), ElementsAre(4, 6));
    Variable c = leaf_of({2, 3});
    const Tensor square = c * c; // a diamond of diamonds
    sum(square * square + square * b + c).backward();
    EXPECT_THAT(c.grad().to_vector<float>(), ElementsAre(4 * 8 + 2 * 2 * 5 + 1, 4 * 27 + 2 * 3 * 7 + 1));
    EXPECT_THAT(b.grad().to_vector<float>(), ElementsAre(4, 9));
}

TEST(Walk, AddsToTheGradientThatIsThere)
{
    const Variable v = leaf_of({1, 1});
    for (int i = 1; i <= 3; ++i) {
        sum(v * 2).backward();
        EXPECT_THAT(v.grad().to_vector<float>(), ElementsAre(2 * i, 2 * i));
    }
}

TEST(Walk, SumsOverWhatWasBroadcast)
{
    const Variable row = leaf_of({1, 2, 3}), scalar = leaf_of({2});
    sum(zeros({4, 3}) + row * scalar.reshape({})).backward();
    EXPECT_THAT(row.grad().to_vector<float>(), ElementsAre(8, 8, 8));
    EXPECT_THAT(scalar.grad().to_vector<float>(), ElementsAre(24));
}

TEST(Walk, FollowsWhatTheProgramDid)
{
    for (const float start : {1.5f, -3.0f}) { // other branches and numbers of turns
        const Variable x = leaf_of({start});
        Tensor y = x;
        double want = 1;
        while (std::fabs(y.item<float>()) < 20) {
            if (y.item<float>() > 4) {
                y = y * 3;
                want *= 3;
            } else {
                y = y * -2;
                want *= -2;
            }
        }
        y.backward();
        EXPECT_EQ(x.grad().item<float>(), want);
    }
}

TEST(Walk, LeavesOutInputsThatNeedNoGradient)
{
    const Variable v = leaf_of({1, 2});
    const Tensor constant = from_vector({3, 4});
    sum(v * constant).backward();
    EXPECT_FALSE(constant.grad().defined());
    EXPECT_THAT(v.grad().to_vector<float>(), ElementsAre(3, 4));
}

TEST(Walk, PartsOfTheOutputsOfAnOp)
{
    const Variable x(from_vector(std::vector<float>{1, 5, 3, 2, 8, 4}, {2, 3}));
    const auto [values, indices] = max(x, 1);
    EXPECT_FALSE(indices.requires_grad());
    sum(values * from_vector({10, 20})).backward();
    EXPECT_THAT(x.grad().to_vector<float>(), ElementsAre(0, 10, 0, 0, 20, 0));
}

TEST(GradFunction, GivesGradientsAndTouchesNoLeaf)
{
    const Variable a = leaf_of({2}), b = leaf_of({3});
    const auto g = grad({a * b + a}, {a, b});
    EXPECT_EQ(g[0].item<float>(), 4);
    EXPECT_EQ(g[1].item<float>(), 2);
    EXPECT_FALSE(a.grad().defined());
    EXPECT_FALSE(g[0].requires_grad());
}

TEST(GradFunction, ByTensorsInsideTheGraph)
{
    const Variable a = leaf_of({2, 3});
    const Tensor inner = a * a, y = sum(inner * inner);
    const auto g = grad({y}, {inner, a, y}, {.retain_graph = true});
    EXPECT_THAT(g[0].to_vector<float>(), ElementsAre(8, 18));
    EXPECT_THAT(g[1].to_vector<float>(), ElementsAre(32, 108));
    EXPECT_EQ(g[2].item<float>(), 1);
    EXPECT_NO_THROW(y.backward());
}

TEST(GradFunction, KeepsWhatTheInputItselfWasMadeOf)
{
    const Variable a = leaf_of({2, 3});
    const Tensor inner = a * a;
    EXPECT_THAT(grad(sum(inner * inner), inner).to_vector<float>(), ElementsAre(8, 18));
    EXPECT_NO_THROW(sum(inner).backward());
    EXPECT_THAT(a.grad().to_vector<float>(), ElementsAre(4, 6));
}

TEST(GradFunction, OfSeveralOutputsWithCotangents)
{
    const Variable a = leaf_of({2, 3});
    const auto g = grad({a * a, exp(a * 0)}, {a}, {.cotangents = {from_vector({1, 10}), ones({2})}});
    EXPECT_THAT(g[0].to_vector<float>(), ElementsAre(4, 60));
    EXPECT_EQ(error_of([&] {
                  return grad({a * a, a}, {a}, {.cotangents = {ones({2})}});
              }).kind,
              ErrorKind::argument);
    EXPECT_EQ(error_of([&] { return grad(a * a, a); }).kind, ErrorKind::shape);
}

TEST(GradFunction, OfUnusedInputs)
{
    const Variable a = leaf_of({2}), unused = leaf_of({3});
    const Caught error = error_of([&] { return grad({a * a}, {a, unused}); });
    EXPECT_EQ(error.kind, ErrorKind::argument);
    EXPECT_THAT(error.text, HasSubstr("allow_unused"));
    const auto g = grad({a * a}, {a, unused}, {.allow_unused = true});
    EXPECT_EQ(g[0].item<float>(), 4);
    EXPECT_FALSE(g[1].defined());
    EXPECT_EQ(error_of([&] { return grad(a * a, from_vector({1})); }).kind, ErrorKind::state);
}

TEST(GradFunction, ReleasesOnlyWhatItWalked)
{
    const Variable a = leaf_of({2}), b = leaf_of({3});
    const Tensor left = exp(a), right = exp(b), y = left * right;
    static_cast<void>(grad(y, a));
    EXPECT_NO_THROW((right * 2).backward());
    EXPECT_EQ(error_of([&] { return y.backward(), 0; }).kind, ErrorKind::state);
}

// Derivatives of order 1, 2 and 3 against closed forms, on the reference device in double.
struct Smooth {
    const char* name;
    Tensor (*f)(const Tensor&);
    double (*d[3])(double);
};

class HigherOrder : public testing::TestWithParam<Smooth> {};
INSTANTIATE_TEST_SUITE_P(
    Functions, HigherOrder,
    testing::Values(Smooth{"cube",
                           [](const Tensor& x) { return x * x * x; },
                           {[](double x) { return 3 * x * x; }, [](double x) { return 6 * x; },
                            [](double) { return 6.0; }}},
                    Smooth{"sin",
                           [](const Tensor& x) { return sin(x); },
                           {[](double x) { return std::cos(x); }, [](double x) { return -std::sin(x); },
                            [](double x) { return -std::cos(x); }}},
                    Smooth{"exp",
                           [](const Tensor& x) { return exp(x * 2); },
                           {[](double x) { return 2 * std::exp(2 * x); },
                            [](double x) { return 4 * std::exp(2 * x); },
                            [](double x) { return 8 * std::exp(2 * x); }}},
                    Smooth{"tanh",
                           [](const Tensor& x) { return tanh(x); },
                           {[](double x) { return 1 - std::tanh(x) * std::tanh(x); },
                            [](double x) { return -2 * std::tanh(x) * (1 - std::tanh(x) * std::tanh(x)); },
                            [](double x) {
                                const double y = std::tanh(x), s = 1 - y * y;
                                return -2 * s * (s - 2 * y * y);
                            }}},
                    Smooth{"log",
                           [](const Tensor& x) { return log(x); },
                           {[](double x) { return 1 / x; }, [](double x) { return -1 / (x * x); },
                            [](double x) { return 2 / (x * x * x); }}},
                    Smooth{"reciprocal",
                           [](const Tensor& x) { return 1.0 / x; },
                           {[](double x) { return -1 / (x * x); }, [](double x) { return 2 / (x * x * x); },
                            [](double x) { return -6 / (x * x * x * x); }}},
                    Smooth{"square_of_sum",
                           [](const Tensor& x) { return x * sum(x); }, // not elementwise: see the test
                           {nullptr, nullptr, nullptr}}),
    [](const auto& test) { return test.param.name; });

TEST_P(HigherOrder, FollowsTheClosedForm)
{
    const std::vector<double> at = {0.3, 0.7, 1.9};
    Tensor x = from_vector(at, {3}, {.device = Device("reference")});
    x.requires_grad_();
    Tensor y = sum(GetParam().f(x));
    for (std::size_t order = 0; order < 3; ++order) {
        const Tensor g = grad(y, x, {.create_graph = true});
        const auto got = g.to_vector<double>();
        for (std::size_t i = 0; i < at.size(); ++i) {
            double want = 0; // of (sum x)^2: 2 sum x, then 2 n, then none
            if (GetParam().d[order]) want = GetParam().d[order](at[i]);
            else want = order == 0 ? 2 * (at[0] + at[1] + at[2]) : order == 1 ? 6 : 0;
            EXPECT_NEAR(got[i], want, 1e-11 * (1 + std::fabs(want)))
                << "order " << order + 1 << " at " << at[i];
        }
        if (!GetParam().d[order] && order == 1) break; // a constant: there is no third gradient
        y = sum(g);
    }
}

TEST(Walk, CreateGraphThroughBackward)
{
    const Variable x = leaf_of({3});
    (x * x * x).backward({}, {.create_graph = true});
    const Tensor g = x.grad();
    EXPECT_TRUE(g.requires_grad());
    EXPECT_EQ(grad(g, x).item<float>(), 18);
}

// Walk and release go without recursion.
TEST(Walk, AChainOfAHundredThousandNodes)
{
    const test::UseDevice use(test::imitation("null"));
    const Variable x(zeros({1}));
    {
        Tensor y = x;
        for (int i = 0; i < 100000; ++i) y = neg(y);
        sum(y).backward();
    }
    EXPECT_TRUE(x.grad().defined());
    Tensor dropped = x; // released without a backward
    for (int i = 0; i < 100000; ++i) dropped = neg(dropped);
    dropped = Tensor();
}

} // namespace
} // namespace reprise
