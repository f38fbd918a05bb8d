// While a function is recorded: what it may do, what it may not, and that a failure leaves no trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>
#include <reprise/random.hpp>

#include "shape/error_of.hpp"
#include "support/devices.hpp"
#include "support/training.hpp"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Recording, SaysThatItIs)
{
    bool inside = false, outside = true;
    record(
        [&](Tensor x) {
            inside = is_recording();
            const outside_recording here;
            outside = is_recording();
            return x;
        },
        {spec({1})});
    EXPECT_TRUE(inside);
    EXPECT_FALSE(outside);
    EXPECT_FALSE(is_recording());
}

TEST(Recording, HasANumberOfItsOwn)
{
    std::vector<std::uint32_t> numbers;
    const auto note = [&](Tensor x) {
        numbers.push_back(recording_id());
        return x;
    };
    record(
        [&](Tensor x) {
            note(x);
            {
                const outside_recording here;
                EXPECT_EQ(recording_id(), 0u);
                record(note, {spec({1})});
            }
            return note(x);
        },
        {spec({1})});
    record(note, {spec({1})});
    EXPECT_EQ(recording_id(), 0u);
    ASSERT_EQ(numbers.size(), 4u);
    EXPECT_EQ(numbers[0], numbers[2]);
    EXPECT_EQ((std::set<std::uint32_t>{numbers[0], numbers[1], numbers[3], 0}).size(), 4u);
}

TEST(Recording, RunsTheFunctionOnceAndComputesNothing)
{
    int runs = 0;
    const std::uint64_t before = stats().replays;
    const Program p = record(
        [&](Tensor x) {
            ++runs;
            return exp(x);
        },
        {spec({symbol("n")})});
    for (int i = 0; i < 3; ++i) p(ones({2}));
    EXPECT_EQ(runs, 1);
    EXPECT_GE(stats().replays, before + 3);
}

TEST(Recording, NothingCanBeRead)
{
    const auto reads = [](auto read) {
        return error_of([&] { return record(read, {spec({symbol("batch")})}); });
    };
    const Caught item = reads([](Tensor x) {
        static_cast<void>(sum(x).item<float>());
        return x;
    });
    EXPECT_EQ(item.kind, ErrorKind::state);
    EXPECT_THAT(item.text, HasSubstr("no value yet"));
    EXPECT_EQ(reads([](Tensor x) {
                  x.eval();
                  return x;
              }).kind,
              ErrorKind::state);
    const Caught size = reads([](Tensor x) { return x * static_cast<double>(x.size(0).value()); });
    EXPECT_EQ(size.kind, ErrorKind::state);
    EXPECT_THAT(size.text, HasSubstr("batch"));
    EXPECT_FALSE(is_recording());
}

TEST(Recording, AFunctionIsNotRecordedInAnother)
{
    const Caught nested = error_of([] {
        return record([](Tensor x) { return record([](Tensor y) { return y; }, {spec({1})})(x); },
                      {spec({1})});
    });
    EXPECT_EQ(nested.kind, ErrorKind::state);
    EXPECT_THAT(nested.text, HasSubstr("being recorded already"));
}

TEST(Recording, ATensorThatEscapesIsAnError)
{
    Tensor leaked;
    const Program p = record(
        [&](Tensor x) {
            leaked = x * 2;
            return leaked + 1;
        },
        {spec({2})});
    for (const auto& use :
         std::vector<std::function<Tensor()>>{[&] { return leaked; }, [&] { return leaked + 1; },
                                              [&] {
                                                  return reshape(leaked, {2, 1});
                                              }}) {
        const Caught read = error_of([&] { return use().to_vector<float>(); });
        EXPECT_EQ(read.kind, ErrorKind::state);
        EXPECT_THAT(read.text, HasSubstr("record"));
    }
    EXPECT_EQ(error_of([&] { return leaked.eval(), 0; }).kind, ErrorKind::state);
    EXPECT_EQ(error_of([&] { return record([&](Tensor x) { return x + leaked; }, {spec({2})}); }).kind,
              ErrorKind::state);
    EXPECT_EQ(error_of([&] { return p(leaked); }).kind, ErrorKind::state);
    EXPECT_THAT(p(ones({2})).to_vector<float>(), ElementsAre(3, 3));
}

TEST(Recording, AnInputOfARecordingEscapesToo)
{
    Tensor leaked;
    record(
        [&](Tensor x) {
            leaked = x;
            return x;
        },
        {spec({2})});
    EXPECT_EQ(error_of([&] { return leaked.to_vector<float>(); }).kind, ErrorKind::state);
    EXPECT_EQ(error_of([&] { return (leaked * 2).to_vector<float>(); }).kind, ErrorKind::state);
}

struct Stop {};

TEST(Recording, AnExceptionLeavesEverythingAsItWas)
{
    for (const test::Net net : test::all_nets) {
        test::Training t(net);
        Variable extra(from_vector({1, 2}), false), leaf(from_vector({3}));
        leaf.set_grad(from_vector({4}));
        const auto before = t.state();
        const GeneratorState generator = generator_state();
        EXPECT_THROW(record(
                         [&](Tensor x, Tensor target) {
                             extra.assign(extra * 10);
                             leaf.zero_grad();
                             (leaf * 2).backward();
                             t.step(x, target);
                             throw Stop();
                             return x;
                         },
                         t.specs(symbol("batch"))),
                     Stop);
        EXPECT_FALSE(is_recording());
        EXPECT_TRUE(grad_enabled());
        EXPECT_EQ(generator_state().ordinal, generator.ordinal);
        EXPECT_EQ(t.state(), before) << name_of(net);
        for (const Variable& p : t.net.parameters()) EXPECT_FALSE(p.grad().defined());
        EXPECT_THAT(extra.to_vector<float>(), ElementsAre(1, 2));
        EXPECT_THAT(leaf.grad().to_vector<float>(), ElementsAre(4));

        test::Training fresh(net); // and it trains as if nothing had happened
        const auto [x, target] = t.batch(4, 1);
        manual_seed(1);
        const auto got = test::bits(t.recorded(symbol("batch"))(x, target));
        manual_seed(1);
        EXPECT_EQ(got, test::bits(fresh.recorded(symbol("batch"))(x, target)));
        EXPECT_EQ(t.state(), fresh.state());
    }
}

TEST(Recording, AnExceptionTakesBackAccumulatedGradients)
{
    Variable v(from_vector({1}));
    EXPECT_THROW(record(
                     [&](Tensor x) {
                         sum(v * x).backward();
                         throw Stop();
                         return x;
                     },
                     {spec({1})}),
                 Stop);
    EXPECT_FALSE(v.grad().defined());
}

TEST(Recording, TakesWhatWasComputedOrPendingBeforeAsConstants)
{
    const Tensor computed = from_vector({1, 2}), pending = computed * 10;
    const Program p = record([&](Tensor x) { return x + computed + pending; }, {spec({2})});
    EXPECT_THAT(p(zeros({2})).to_vector<float>(), ElementsAre(11, 22));
}

TEST(Recording, DifferentiatesThroughWhatWasMadeBefore)
{
    Variable v(from_vector({2, 3}));
    const Tensor before = v * v; // on the tape, outside of the program
    const auto [loss_bits, grad_value] = [&] {
        const Program p = record(
            [&](Tensor x) {
                const Tensor y = sum(v * x);
                return grad(y, v);
            },
            {spec({2})});
        return std::pair(test::bits(p(ones({2}))), p(from_vector({5, 6})).to_vector<float>());
    }();
    EXPECT_THAT(grad_value, ElementsAre(5, 6));
    sum(before).backward();
    EXPECT_THAT(v.grad().to_vector<float>(), ElementsAre(4, 6));
}

TEST(Recording, ATensorOfAnotherDeviceIsAnError)
{
    Variable elsewhere(zeros({2}, {.device = test::imitation("null")}), false);
    EXPECT_EQ(error_of([&] { return record([&](Tensor x) { return x + elsewhere; }, {spec({2})}); }).kind,
              ErrorKind::device);
    EXPECT_FALSE(is_recording());
}

TEST(Recording, OnADeviceThatIsNotTheDefault)
{
    const Device reference("reference");
    const Program p =
        record([](Tensor x) { return x * 2 + ones_like(x); }, {spec({symbol("n")})}, {.device = reference});
    EXPECT_THAT(p(from_vector(std::vector<float>{1, 2}, {2}, {.device = reference})).to_vector<float>(),
                ElementsAre(3, 5));
}

TEST(Recording, PrintsItself)
{
    const Program p =
        record([](Tensor x) { return matmul(tanh(x), x.t()) * 2; }, {spec({symbol("rows"), 3})});
    EXPECT_THAT(p.text(), HasSubstr("rows * 3"));
    EXPECT_THAT(p.text(), HasSubstr("epoch 0"));
    EXPECT_THAT(p.dot(), HasSubstr("digraph"));
    EXPECT_GT(p.launches(), 0u);
    EXPECT_GE(p.arena_bytes({100}), 100u * 3 * 4);
}

// -- numbers of the host --

TEST(HostScalar, IsAskedOnceForEachCall)
{
    int asked = 0;
    double value = 2;
    const Program p = record(
        [&](Tensor x) {
            const Tensor s = host_scalar([&] {
                ++asked;
                return value;
            });
            return x * s + s * s;
        },
        {spec({2})});
    EXPECT_EQ(asked, 0);
    EXPECT_THAT(p(ones({2})).to_vector<float>(), ElementsAre(6, 6));
    value = 3;
    EXPECT_THAT(p(ones({2})).to_vector<float>(), ElementsAre(12, 12));
    EXPECT_EQ(asked, 2);
}

TEST(HostScalar, IsAskedAtOnceInEagerCode)
{
    double value = 2;
    const Tensor s = host_scalar([&] { return value; });
    value = 5;
    EXPECT_EQ(s.item<float>(), 2);
    EXPECT_EQ(s.dtype(), f32);
}

TEST(OnEachCall, RunsBeforeTheNumbersAreAsked)
{
    int count = 0;
    on_each_call([&] { count += 100; });
    EXPECT_EQ(count, 100);
    const Program p = record(
        [&](Tensor x) {
            on_each_call([&] { ++count; });
            return x * host_scalar([&] { return count; });
        },
        {spec({1})});
    EXPECT_EQ(count, 100);
    EXPECT_EQ(p(ones({1})).item<float>(), 101);
    EXPECT_EQ(p(ones({1})).item<float>(), 102);
}

TEST(OnEachCall, MustNotCallItsOwnProgram)
{
    Program p;
    bool again = false, times = false;
    p = record(
        [&](Tensor x) {
            on_each_call([&] {
                if (again) p(ones({1}));
                if (times) static_cast<void>(p.times());
            });
            return x * 2;
        },
        {spec({1})});
    again = true;
    EXPECT_EQ(error_of([&] { return p(ones({1})); }).kind, ErrorKind::state);
    again = false;
    times = true;
    EXPECT_EQ(error_of([&] { return p(ones({1})); }).kind, ErrorKind::state);
    times = false;
    EXPECT_EQ(p(ones({1})).item<float>(), 2);
}

TEST(Record, ANegativeSizeOfASpecIsAnError)
{
    EXPECT_THAT(error_of([] {
                    return record([](Tensor x) { return x; }, {spec({-1, 4})});
                }).text,
                testing::HasSubstr("symbol("));
}

// Eager code does not sum over one element, a program over a size that is 1 at a call does: the bits are its own.
TEST(Record, TheSumOfOneElementHasItsBits)
{
    const Dim n = symbol("n"), m = symbol("m");
    const Program p = record([](Tensor x) { return sum(x, {1}); }, {spec({n, m})});
    const Tensor minus = p(from_vector(std::vector<float>{-0.0f, -0.0f}, {2, 1}));
    for (const float v : minus.to_vector<float>()) EXPECT_TRUE(std::signbit(v));
    for (const float v : p(zeros({2, 0})).to_vector<float>()) EXPECT_FALSE(std::signbit(v)) << "nothing is 0";
    for (const float v : p(full({1, 300}, -0.0)).to_vector<float>()) EXPECT_TRUE(std::signbit(v));
}

TEST(OnEachCall, ABadInputRunsNothing)
{
    int count = 0;
    const Program p = record(
        [&](Tensor x) {
            on_each_call([&] { ++count; });
            return x * 1;
        },
        {spec({1})});
    EXPECT_EQ(error_of([&] { return p(ones({2})); }).kind, ErrorKind::shape);
    EXPECT_EQ(count, 0);
}

} // namespace
} // namespace reprise
