// The shapes that functions of ops give, found without values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "shape/error_of.hpp"

namespace reprise {
namespace {

using testing::HasSubstr;
using Tensors = std::vector<Tensor>;

Tensor product(const Tensors& in) { return matmul(in[0], in[1]); }

TEST(OutputShape, FollowsTheRulesOfTheOps)
{
    const Dim n = symbol("n"), m = symbol("m"), h = symbol("h");
    EXPECT_EQ(output_shape(product, {{n, 1, 2, 3}, {5, 3, 4}}), (Shape{n, 5, 2, 4}));
    const auto convolved = [](const Tensors& in) { return relu(conv2d(in[0], in[1], {}, {.stride = 2})); };
    EXPECT_EQ(output_shape(convolved, {{n, 1, h, 8}, {4, 1, 3, 3}}),
              (Shape{n, 4, floor_div(h - 3, 2) + 1, 3}));
    EXPECT_EQ(output_shape(product, {{2, n}, {m, 5}}), (Shape{2, 5})); // where n is m
    EXPECT_EQ(output_shape([](const Tensors& in) { return sum(in[0]); }, {{n}}), Shape());
}

TEST(OutputShape, ComputesNothingAndLeavesNoTape)
{
    const std::uint64_t plans = stats().plans;
    bool on_tape = true;
    output_shape(
        [&](const Tensors& in) {
            Tensor x = in[0];
            on_tape = (x * 2).requires_grad() || grad_enabled();
            return exp(x);
        },
        {{1000, 1000}});
    EXPECT_FALSE(on_tape);
    EXPECT_TRUE(grad_enabled());
    EXPECT_EQ(stats().plans, plans);
}

TEST(OutputShape, TellsWhatDoesNotFit)
{
    const Caught fixed = error_of([&] { return output_shape(product, {{2, 3}, {4, 5}}); });
    EXPECT_EQ(fixed.kind, ErrorKind::shape);
    EXPECT_THAT(fixed.text, HasSubstr("[2, 3]"));
    EXPECT_EQ(error_of([&] {
                  return output_shape([](const Tensors& in) { return in[0] + in[0].to_vector<float>()[0]; },
                                      {{2}});
              }).kind,
              ErrorKind::state);
    EXPECT_EQ(error_of([&] {
                  return output_shape([](const Tensors& in) { return in[0] + ones({2}); }, {{2}});
              }).kind,
              ErrorKind::device);
    EXPECT_TRUE(grad_enabled());
}

TEST(OutputShape, LeavesItsConditionsToARecording)
{
    const auto f = record(
        [](Tensor a, Tensor b) {
            output_shape(product, {a.shape(), b.shape()});
            EXPECT_TRUE(is_recording());
            return sum(a) + sum(b);
        },
        {spec({2, symbol("n")}), spec({symbol("m"), 2})});
    EXPECT_EQ(f(ones({2, 3}), ones({3, 2})).item<float>(), 12);
    EXPECT_EQ(error_of([&] { return f(ones({2, 3}), ones({4, 2})); }).kind, ErrorKind::shape);
}

} // namespace
} // namespace reprise
