// Sums of gradients: bits, steps, types, memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
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
    EXPECT_TRUE(sums.should_apply_gradients()); // b was left out once
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

// What gets a gradient in one step of four, such as an expert, holds up nothing.
TEST(CheckpointedGradientAccumulator, IsNotHeldUpByANameThatSkipsSteps)
{
    Accumulator sums(4);
    const Tensor one = from_vector({1});
    for (int cycle = 0; cycle < 2; ++cycle) {
        for (int step = 1; step <= 4; ++step) {
            EXPECT_FALSE(sums.should_apply_gradients());
            if (step == 4) sums.accumulate({{"w", one}, {"expert", one}});
            else sums.accumulate({{"w", one}});
        }
        EXPECT_TRUE(sums.should_apply_gradients());
        EXPECT_EQ(sums.get_accumulated_gradients_and_reset().at("expert").item<float>(), 1);
    }
}

TEST(CheckpointedGradientAccumulator, ChangesNothingWhereAStepCannotBeComputed)
{
    Variable w(random_tensor({16, 16}, 1));
    const Tensor x = random_tensor({16, 16}, 2), known = random_tensor({16, 16}, 3);
    Accumulator sums(1);
    sums.accumulate({{"known", known}});
    eval({w, x});
    const Tensor gradient = grad(sum(tanh(matmul(x, w))), w);
    set_memory_budget(1);
    const Caught error = error_of([&] {
        sums.accumulate({{"known", gradient}, {"w", gradient}});
        return 0;
    });
    set_memory_budget(std::nullopt);
    EXPECT_EQ(error.kind, ErrorKind::out_of_memory);
    EXPECT_EQ(sums.count("known"), 1);
    EXPECT_EQ(sums.count("w"), 0);
    EXPECT_EQ(sums.get_accumulated_gradients().size(), 1u);
    EXPECT_EQ(bits(sums.get_accumulated_gradients().at("known")), bits(known));
}

TEST(CheckpointedGradientAccumulator, ForgetsNames)
{
    Accumulator sums(1);
    sums.accumulate({{"a", from_vector({1, 2})}, {"b", from_vector({3})}});
    EXPECT_TRUE(sums.remove("a"));
    EXPECT_FALSE(sums.remove("a"));
    EXPECT_EQ(sums.count("a"), 0);
    EXPECT_EQ(sums.get_accumulated_gradients().size(), 1u);
    sums.accumulate("a", from_vector({4})); // of another type
    EXPECT_EQ(sums.get_accumulated_gradients().at("a").item<float>(), 4);
    const Program step = record(
        [&](Tensor x) {
            sums.accumulate("c", x);
            return x * 2;
        },
        {spec({2})});
    EXPECT_TRUE(sums.remove("c"));
    step(from_vector({1, 2})); // to a sum that nobody sees
    EXPECT_EQ(sums.count("c"), 0);
    EXPECT_EQ(sums.get_accumulated_gradients().size(), 2u);
}

// After a reset a name is of the type of its next gradient, but for what a program has.
TEST(CheckpointedGradientAccumulator, HoldsNoTypeThatNothingDependsOn)
{
    Accumulator sums(1);
    const auto kind_of = [&](const Tensor& gradient) {
        return error_of([&] { return sums.accumulate("w", gradient), 0; }).kind;
    };
    sums.accumulate("w", zeros({2, 3}));
    EXPECT_EQ(kind_of(zeros({3, 2})), ErrorKind::shape);
    sums.reset();
    sums.accumulate("w", ones({3, 2}));
    EXPECT_EQ(sums.get_accumulated_gradients_and_reset().at("w").shape(), Shape({3, 2}));
    EXPECT_THROW(record(
                     [&](Tensor x) {
                         sums.accumulate("w", x);
                         if (x.dim() == 2) throw std::runtime_error("of the user");
                         return x;
                     },
                     {spec({2, 3})}),
                 std::runtime_error);
    sums.accumulate("w", ones({4}));
    sums.reset();
    {
        const Program step = record(
            [&](Tensor x) {
                sums.accumulate("w", x);
                return x;
            },
            {spec({5})});
        EXPECT_EQ(kind_of(ones({4})), ErrorKind::shape);
    }
    sums.accumulate("w", ones({4})); // the program is gone
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

TEST(CheckpointedGradientAccumulator, HoldsNoMemoryAfterAReset)
{
    const MemoryTracker memory;
    Accumulator sums(2);
    const std::uint64_t before = memory.current();
    for (const bool get : {false, true}) {
        for (const double by : {2.0, 3.0}) {
            const Tensor gradient = ones({64, 64}) * by;
            sums.accumulate({{"w", gradient}});
        }
        EXPECT_EQ(memory.current(), before + 64 * 64 * 4);
        if (get) {
            const auto gradients = sums.get_accumulated_gradients_and_reset();
            EXPECT_EQ(gradients.at("w").to_vector<float>()[0], 5);
        } else sums.reset();
        (ones({1}) * 2).eval(); // what was assigned would be computed with it
        EXPECT_EQ(memory.current(), before);
    }
}

} // namespace
} // namespace reprise
