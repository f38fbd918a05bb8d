// Sums of gradients as state of programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include <reprise/autograd.hpp>
#include <reprise/checkpointing.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using Accumulator = CheckpointedGradientAccumulator;
using test::bits;
using test::random_tensor;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(CheckpointedGradientAccumulator, IsStateOfPrograms)
{
    Variable w(random_tensor({4, 4}, 1));
    const auto gradient = [&](const Tensor& x) { return grad(sum(tanh(matmul(x, w)) * 0.1), w); };
    Accumulator recorded(3), eager(3);
    const Program step = record(
        [&](Tensor x) {
            recorded.accumulate({{"w", gradient(x)}});
            return sum(x);
        },
        {spec({symbol("n"), 4})});
    EXPECT_EQ(recorded.count("w"), 0); // nothing was called
    EXPECT_FALSE(recorded.should_apply_gradients());
    for (int cycle = 0; cycle < 2; ++cycle) {
        for (std::int64_t i = 1; i <= 3; ++i) {
            const Tensor x = random_tensor({i, 4}, static_cast<std::uint64_t>(10 * cycle + i));
            if (i == 2) recorded.accumulate({{"w", gradient(x)}}); // in turn
            else step(x);
            eager.accumulate({{"w", gradient(x)}});
            EXPECT_EQ(recorded.count("w"), i);
            EXPECT_EQ(recorded.should_apply_gradients(), i == 3);
            EXPECT_EQ(bits(recorded.get_accumulated_gradients().at("w")),
                      bits(eager.get_accumulated_gradients().at("w")));
        }
        recorded.get_accumulated_gradients_and_reset();
        eager.reset();
    }
}

TEST(CheckpointedGradientAccumulator, ResetsInPrograms)
{
    Accumulator sums(2);
    const Program both = record(
        [&](Tensor x) { // two micro-batches and their application
            sums.accumulate("x", x);
            sums.accumulate("x", x * 2);
            return sums.get_accumulated_gradients_and_reset().at("x");
        },
        {spec({2})});
    for (const float start : {1.0F, 5.0F}) {
        EXPECT_EQ(bits(both(from_vector({start, -0.0F}))), bits(from_vector({3 * start, -0.0F})));
        EXPECT_EQ(sums.count("x"), 0);
    }
}

// Each sum is applied once, whether the program is called again before or after the next gradient.
TEST(CheckpointedGradientAccumulator, GivesProgramsZerosForNamesWithoutASum)
{
    Accumulator sums(1);
    Variable a(from_vector({10, 10})), b(from_vector({10, 10}));
    eval({a, b});
    sums.accumulate({{"a", from_vector({1, 2})}, {"b", from_vector({3, 4})}});
    const Program apply = record(
        [&] {
            const auto gradients = sums.get_accumulated_gradients_and_reset();
            a.assign(a - gradients.at("a"));
            b.assign(b - gradients.at("b"));
            return sum(a);
        },
        {});
    apply.call({});
    apply.call({});
    EXPECT_THAT(a.to_vector<float>(), ElementsAre(9, 8));
    EXPECT_THAT(b.to_vector<float>(), ElementsAre(7, 6));
    sums.accumulate("a", from_vector({1, 1})); // and none of b
    apply.call({});
    EXPECT_THAT(a.to_vector<float>(), ElementsAre(8, 7));
    EXPECT_THAT(b.to_vector<float>(), ElementsAre(7, 6));
}

TEST(CheckpointedGradientAccumulator, AsksAgainAfterAFailedCall)
{
    Accumulator sums(1);
    sums.accumulate("x", from_vector({1, 2}));
    bool throws = true;
    const Program read = record(
        [&](Tensor x) {
            const Tensor sum = sums.get_accumulated_gradients().at("x");
            on_each_call([&] {
                if (throws) throw std::runtime_error("of the user");
            });
            return x + sum;
        },
        {spec({2})});
    EXPECT_THROW(read(zeros({2})), std::runtime_error);
    throws = false;
    sums.reset();
    EXPECT_EQ(bits(read(zeros({2}))), bits(zeros({2})));
}

// At sizes of 0, too.
TEST(CheckpointedGradientAccumulator, AddsEmptyTensors)
{
    Accumulator sums(1);
    const Program step = record(
        [&](Tensor x) {
            sums.accumulate({{"recorded", x}});
            return sums.get_accumulated_gradients().at("recorded");
        },
        {spec({0, 4})});
    for (int i = 0; i < 2; ++i) {
        sums.accumulate({{"eager", zeros({0, 4})}});
        EXPECT_EQ(step(zeros({0, 4})).shape(), Shape({0, 4}));
    }
    for (const auto& [name, sum] : sums.get_accumulated_gradients_and_reset())
        EXPECT_EQ(sum.shape(), Shape({0, 4})) << name;
}

TEST(CheckpointedGradientAccumulator, RefusesSymbolicSizes)
{
    Accumulator sums(1);
    const Caught error = error_of([&] {
        return record(
            [&](Tensor x) {
                sums.accumulate("x", x);
                return x;
            },
            {spec({symbol("n")})});
    });
    EXPECT_EQ(error.kind, ErrorKind::shape);
    EXPECT_THAT(error.text, HasSubstr("has the shape ([n])"));
}

// A call that fails has not been counted.
TEST(CheckpointedGradientAccumulator, TakesBackWhatAFailedCallCounted)
{
    Accumulator sums(1);
    bool throws = false;
    const Program step = record(
        [&](Tensor x) {
            sums.accumulate("x", x);
            on_each_call([&] {
                if (throws) throw std::runtime_error("of the user");
            });
            return x * 2;
        },
        {spec({2})});
    step(from_vector({1, 2}));
    throws = true;
    EXPECT_THROW(step(from_vector({3, 4})), std::runtime_error);
    EXPECT_EQ(sums.count("x"), 1);
    throws = false;
    step(from_vector({5, 6}));
    EXPECT_EQ(sums.count("x"), 2);
    EXPECT_THAT(sums.get_accumulated_gradients().at("x").to_vector<float>(), ElementsAre(6, 8));
}

} // namespace
} // namespace reprise
