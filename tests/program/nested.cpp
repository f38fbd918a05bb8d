// A program that is called while another is recorded is a part of that one: as if the calls came one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>
#include <reprise/random.hpp>

#include "shape/error_of.hpp"
#include "support/devices.hpp"
#include "support/training.hpp"

namespace reprise {
namespace {

using test::Bits;
using test::bits;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Nested, AProgramMayBeCalledInAnother)
{
    const Dim n = symbol("n"), m = symbol("m");
    const auto inner = record([](Tensor x) { return std::pair(x * 2, sum(x, {0})); }, {spec({n, 3})});
    const auto outer = record(
        [&](Tensor x) {
            const auto [twice, total] = inner(x + 1);
            const auto [again, rest] = inner(twice);
            return std::vector<Tensor>{again + total, rest};
        },
        {spec({m, 3})});
    const auto by_hand = [](const Tensor& x) {
        const Tensor twice = (x + 1) * 2;
        return std::vector<Tensor>{twice * 2 + sum(x + 1, {0}), sum(twice, {0})};
    };
    for (const std::int64_t size : {0, 1, 4}) {
        const Tensor x = test::random_tensor({size, 3}, 1);
        const auto got = outer(x), want = by_hand(x);
        EXPECT_EQ(bits(got[0]), bits(want[0]));
        EXPECT_EQ(bits(got[1]), bits(want[1]));
    }
}

// Two steps, one program inside of another, against two calls: parameters, moments, step numbers, dropout.
class NestedSteps : public testing::TestWithParam<test::Net> {};
INSTANTIATE_TEST_SUITE_P(Nets, NestedSteps, testing::ValuesIn(test::all_nets),
                         [](const auto& test) { return name_of(test.param); });

TEST_P(NestedSteps, EqualCallsOneByOne)
{
    test::Training one(GetParam()), both(GetParam());
    const Dim batch = symbol("batch");
    const Program step = one.recorded(batch), part = both.recorded(batch);
    const auto two = record(
        [&](Tensor x, Tensor target) {
            const Tensor noise = rand({2}), first = part(x, target), second = part(x * 0.5, target);
            return std::vector<Tensor>{noise, first, second, rand({2})};
        },
        both.specs(batch));
    for (const std::int64_t size : {4, 7}) {
        const auto [x, target] = one.batch(size, 3);
        manual_seed(9);
        const Tensor noise = rand({2}), first = step(x, target), second = step(x * 0.5, target),
                     more = rand({2});
        const std::vector<Bits> want{bits(noise), bits(first), bits(second), bits(more)};
        manual_seed(9);
        std::vector<Bits> got;
        for (const Tensor& t : two(x, target)) got.push_back(bits(t));
        EXPECT_EQ(got, want);
        EXPECT_EQ(both.state(), one.state());
        EXPECT_EQ(generator_state().ordinal, 2 + 2 * (GetParam() == test::Net::normalised));
    }
}

TEST(Nested, TheFunctionIsNotRunAgain)
{
    int runs = 0;
    Program inner;
    {
        auto gone = std::make_unique<double>(3);
        inner = record(
            [&](Tensor x) {
                ++runs;
                return x * *gone;
            },
            {spec({1})});
    }
    const auto outer = record([&](Tensor x) { return inner(x) + 1; }, {spec({1})});
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(outer(from_vector({2})).item<float>(), 7);
}

TEST(Nested, HooksAndNumbersAreAskedInOrder)
{
    int count = 0;
    const auto inner = record(
        [&](Tensor x) {
            on_each_call([&] { ++count; });
            return x * host_scalar([&] { return count; });
        },
        {spec({1})});
    const auto outer = record([&](Tensor x) { return std::vector<Tensor>{inner(x), inner(x)}; }, {spec({1})});
    EXPECT_EQ(count, 0);
    const auto values = [&] {
        const auto out = outer(ones({1}));
        return std::vector{out[0].item<float>(), out[1].item<float>()};
    };
    EXPECT_THAT(values(), ElementsAre(1, 2));
    EXPECT_THAT(values(), ElementsAre(3, 4));
    EXPECT_EQ(inner(ones({1})).item<float>(), 5);
}

TEST(Nested, NoGradientFlowsThroughIt)
{
    Variable w(from_vector({2}));
    const auto inner = record([&](Tensor x) { return x * w; }, {spec({1})});
    const auto f = [&](Tensor x) {
        w.zero_grad();
        const Tensor y = sum(w * x + inner(w * x));
        y.backward();
        return w.grad() * 1;
    };
    const Tensor eager = f(from_vector({3}));
    w.zero_grad();
    EXPECT_EQ(eager.item<float>(), 3);
    EXPECT_EQ(record(f, {spec({1})})(from_vector({3})).item<float>(), 3);
}

TEST(Nested, GradientsThatItZeroesOrAddsTo)
{
    const auto run = [](bool nested) {
        Variable v(from_vector({2}));
        const Program add = record([&](Tensor x) { sum(v * x).backward(); }, {spec({1})});
        const Program own = record(
            [&](Tensor x) {
                v.zero_grad();
                sum(v * v * x).backward();
                return v.grad() * 1;
            },
            {spec({1})});
        const auto all = [&](Tensor x) {
            add.call({x});
            add.call({x * 10});
            const Tensor added = v.grad() * 1, found = own(x);
            add.call({x});
            return std::vector<Tensor>{added, found, v.grad() * 1};
        };
        std::vector<Bits> out;
        const auto program = record(all, {spec({1})}, {.keep_grads = true});
        for (int i = 0; i < 2; ++i)
            for (const Tensor& t : nested ? program(ones({1})) : all(ones({1}))) out.push_back(bits(t));
        out.push_back(bits(v.grad()));
        return out;
    };
    EXPECT_EQ(run(true), run(false));
}

TEST(Nested, ConditionsAreDecidedOrBecomeTheOuterPrograms)
{
    const Dim a = symbol("a"), b = symbol("b"), n = symbol("n"), even = symbol("even", {.multiple_of = 2});
    const auto add = record([](Tensor x, Tensor y) { return x + y; }, {spec({a}), spec({b})});
    EXPECT_THAT(record([&](Tensor x) { return add(x, x); }, {spec({n})}).text(),
                testing::Not(HasSubstr("guard")));
    const Caught never = error_of(
        [&] { return record([&](Tensor x) { return add(x, ones({x.size(0) + 1})); }, {spec({n})}); });
    EXPECT_EQ(never.kind, ErrorKind::shape);
    EXPECT_THAT(never.text, HasSubstr("[add]"));
    const auto open =
        record([&](Tensor x, Tensor y) { return add(x, y) * 2; }, {spec({n}), spec({symbol("m")})});
    EXPECT_THAT(open(ones({2}), ones({2})).to_vector<float>(), ElementsAre(4, 4));
    const Caught wrong = error_of([&] { return open(ones({2}), ones({3})); });
    EXPECT_EQ(wrong.kind, ErrorKind::shape);
    EXPECT_THAT(wrong.text, HasSubstr("n = 2, m = 3"));

    const auto halves = record([&](Tensor x) { return reshape(x, {2, -1}); }, {spec({even})});
    const auto outer = record([&](Tensor x) { return halves(x) * 1; }, {spec({n})});
    EXPECT_EQ(to_string(outer(ones({6})).shape()), "[2, 3]");
    EXPECT_EQ(error_of([&] { return outer(ones({5})); }).kind, ErrorKind::shape);
    EXPECT_EQ(error_of([&] { return record([&](Tensor x) { return halves(x); }, {spec({5})}); }).kind,
              ErrorKind::shape);
}

TEST(Nested, TakesSizesOfTheOuterProgram)
{
    const Dim n = symbol("n"), l = symbol("l"), m = symbol("m");
    const auto head = record([](Tensor x, Dim length) { return narrow(x, 0, 0, length); }, {spec({n}), l});
    const auto outer = record([&](Tensor x) { return head(x, floor_div(x.size(0), 2)) + 0.5; }, {spec({m})});
    EXPECT_THAT(outer(arange(5).to(f32)).to_vector<float>(), ElementsAre(0.5, 1.5));
}

TEST(Nested, AnErrorInsideLeavesEverythingAsItWas)
{
    Variable state(from_vector({1}), false);
    const auto inner = record(
        [&](Tensor x) {
            state.assign(state + x);
            return rand({1});
        },
        {spec({1})});
    const GeneratorState before = generator_state();
    EXPECT_EQ(error_of([&] {
                  return record(
                      [&](Tensor x) {
                          inner(x);
                          return inner(ones({2}));
                      },
                      {spec({1})});
              }).kind,
              ErrorKind::shape);
    EXPECT_FALSE(is_recording());
    EXPECT_EQ(state.item<float>(), 1);
    EXPECT_EQ(generator_state().ordinal, before.ordinal);
    inner(ones({1}));
    EXPECT_EQ(state.item<float>(), 2);
}

TEST(Nested, OfAnotherDeviceIsAnError)
{
    const auto other = record([](Tensor x) { return x; }, {spec({1})}, {.device = test::imitation("null")});
    const Caught error = error_of([&] { return record([&](Tensor x) { return other(x); }, {spec({1})}); });
    EXPECT_EQ(error.kind, ErrorKind::device);
}

} // namespace
} // namespace reprise
