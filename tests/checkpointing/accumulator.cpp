// Sums of gradients: bits, steps, types; as state of programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <reprise/autograd.hpp>
#include <reprise/checkpointing.hpp>
#include <reprise/memory.hpp>
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
using testing::IsEmpty;

TEST(CheckpointedGradientAccumulator, AddsByName)
{
    Accumulator sums(2);
    EXPECT_EQ(sums.steps(), 2);
    EXPECT_FALSE(sums.should_apply_gradients());
    EXPECT_THAT(sums.get_accumulated_gradients(), IsEmpty());
    sums.accumulate("a", from_vector({1, 2}));
    sums.accumulate({{"a", from_vector({10, 20})}, {"b", from_vector({5})}});
    EXPECT_EQ(sums.count("a"), 2);
    EXPECT_EQ(sums.count("b"), 1);
    EXPECT_EQ(sums.count("c"), 0);
    EXPECT_FALSE(sums.should_apply_gradients()); // b lacks one
    sums.accumulate("b", from_vector({6}));
    EXPECT_TRUE(sums.should_apply_gradients());
    const auto found = sums.get_accumulated_gradients();
    EXPECT_THAT(found.at("a").to_vector<float>(), ElementsAre(11, 22));
    EXPECT_EQ(found.at("b").item<float>(), 11);
    EXPECT_FALSE(found.at("a").requires_grad());
    EXPECT_TRUE(sums.should_apply_gradients()); // looking changes nothing
    EXPECT_EQ(sums.get_accumulated_gradients_and_reset().size(), 2u);
    EXPECT_FALSE(sums.should_apply_gradients());
    EXPECT_THAT(sums.get_accumulated_gradients(), IsEmpty());
    sums.accumulate("a", from_vector({3, 4}));
    EXPECT_THAT(found.at("a").to_vector<float>(), ElementsAre(11, 22)); // what was given stays
    EXPECT_THAT(sums.get_accumulated_gradients().at("a").to_vector<float>(), ElementsAre(3, 4));
    EXPECT_EQ(sums.get_accumulated_gradients().size(), 1u);
    sums.reset();
    EXPECT_EQ(sums.count("a"), 0);
    sums.accumulate({});
    EXPECT_FALSE(sums.should_apply_gradients());
}

TEST(CheckpointedGradientAccumulator, NamesMistakes)
{
    for (const std::int64_t steps : {0, -1}) {
        const Caught error = error_of([&] { return Accumulator(steps).steps(); });
        EXPECT_EQ(error.kind, ErrorKind::argument);
        EXPECT_THAT(error.text, HasSubstr("(" + std::to_string(steps) + ") must be at least 1"));
    }
    Accumulator sums(1);
    sums.accumulate("a", zeros({2, 3}));
    const auto refused = [&](ErrorKind kind, const Accumulator::Gradients& gradients) {
        const Caught error = error_of([&] { return sums.accumulate(gradients), 0; });
        EXPECT_EQ(error.kind, kind);
        return error.text;
    };
    EXPECT_THAT(refused(ErrorKind::shape, {{"a", zeros({3, 2})}}),
                HasSubstr("[CheckpointedGradientAccumulator] The gradient of (a) is f32[3, 2] on "));
    EXPECT_THAT(refused(ErrorKind::shape, {{"a", zeros({3, 2})}}), HasSubstr("its sum is f32[2, 3] on "));
    EXPECT_THAT(refused(ErrorKind::dtype, {{"a", zeros({2, 3}, {.dtype = i32})}}), HasSubstr("i32[2, 3]"));
    EXPECT_THAT(refused(ErrorKind::device, {{"a", zeros({2, 3}, {.device = Device("null")})}}),
                HasSubstr("on null"));
    EXPECT_THAT(refused(ErrorKind::argument, {{"a", Tensor()}}), HasSubstr("(a) is undefined"));
    EXPECT_THAT(refused(ErrorKind::argument, {{"", zeros({2})}}), HasSubstr("name is empty"));
    refused(ErrorKind::shape, {{"0", zeros({2})}, {"a", zeros({3})}, {"b", zeros({2})}}); // all or none
    EXPECT_EQ(sums.count("0"), 0);
    EXPECT_EQ(sums.count("a"), 1);
    EXPECT_TRUE(sums.should_apply_gradients());
}

// As grad() after as many backward passes; -0 is not added to 0.
TEST(CheckpointedGradientAccumulator, HasTheBitsOfBackward)
{
    Variable w(random_tensor({4, 4}, 1));
    const auto loss = [&](const Tensor& x) { return sum(tanh(matmul(x, w)) * 0.1); };
    Accumulator sums(3), negative(1);
    for (std::uint64_t i = 1; i <= 3; ++i) {
        const Tensor x = random_tensor({3, 4}, i);
        loss(x).backward();
        sums.accumulate({{"w", grad(loss(x), w)}});
    }
    EXPECT_TRUE(sums.should_apply_gradients());
    EXPECT_EQ(bits(sums.get_accumulated_gradients().at("w")), bits(w.grad()));
    negative.accumulate("zero", from_vector({-0.0F}));
    EXPECT_EQ(bits(negative.get_accumulated_gradients().at("zero")), bits(from_vector({-0.0F})));
}

// A step's sums are computed with the step, so neither its graph nor its values live on.
TEST(CheckpointedGradientAccumulator, HoldsNoGraph)
{
    Variable w(random_tensor({64, 64}, 1, -0.1, 0.1));
    const Tensor x = random_tensor({64, 64}, 2);
    eval({w, x});
    const MemoryTracker memory;
    const std::uint64_t before = memory.current();
    Accumulator sums(4);
    for (int i = 0; i < 4; ++i) {
        Tensor h = x;
        for (int k = 0; k < 4; ++k) h = tanh(matmul(h, w));
        const Tensor loss = sum(h);
        loss.eval();
        sums.accumulate({{"w", grad(loss, w)}});
    }
    EXPECT_LE(memory.current(), before + 2 * 64 * 64 * 4);
}

// ---- in programs ----

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
