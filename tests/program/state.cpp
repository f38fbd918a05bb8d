// State: cells that the function reads or assigns, found while recording and updated in place.
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

using testing::ElementsAre;
using testing::HasSubstr;

Variable cell(std::vector<float> v) { return Variable(from_vector(v), false); }

TEST(State, IsReadAnewAtEachCall)
{
    Variable v = cell({1, 2});
    const Program p = record([&](Tensor x) { return x * v; }, {spec({2})});
    EXPECT_THAT(p(ones({2})).to_vector<float>(), ElementsAre(1, 2));
    v.assign(from_vector({5, 6}));
    EXPECT_THAT(p(ones({2})).to_vector<float>(), ElementsAre(5, 6));
}

TEST(State, IsWhatTheLastAssignmentLeft)
{
    Variable v = cell({1});
    const Program p = record(
        [&](Tensor x) {
            v.assign(v + x);
            v.assign(v * 2);
            const Tensor seen = v * 1; // of the new value
            v.assign(v + 1);
            return seen;
        },
        {spec({1})});
    EXPECT_EQ(p(from_vector({2})).item<float>(), 6);
    EXPECT_EQ(v.item<float>(), 7);
    EXPECT_EQ(p(from_vector({3})).item<float>(), 20);
    EXPECT_EQ(v.item<float>(), 21);
}

TEST(State, OfOneProgramIsSeenByAnother)
{
    Variable v = cell({0});
    const auto add = [&](Tensor x) { v.assign(v + x); };
    const Program p = record(add, {spec({1})}), q = record(add, {spec({1})});
    for (int i = 0; i < 3; ++i) {
        p.call({ones({1})});
        q.call({ones({1}) * 10});
    }
    EXPECT_EQ(v.item<float>(), 33);
}

// -- what was taken of a cell before keeps its value --

TEST(State, DoesNotDisturbWhatWasTakenBefore)
{
    Variable v = cell({1, 2, 3, 4});
    const Program p = record([&](Tensor x) { v.assign(v + x); }, {spec({4})});
    p.call({ones({4})}); // the cell has memory of its own now
    const Tensor same = v.detach(), part = v.narrow(0, 1, 2), pending = v * 10, evaluated = v.reshape({2, 2});
    evaluated.eval();
    Variable copy(v, false);
    p.call({ones({4})});
    EXPECT_THAT(v.to_vector<float>(), ElementsAre(3, 4, 5, 6));
    EXPECT_THAT(same.to_vector<float>(), ElementsAre(2, 3, 4, 5));
    EXPECT_THAT(part.to_vector<float>(), ElementsAre(3, 4));
    EXPECT_THAT(pending.to_vector<float>(), ElementsAre(20, 30, 40, 50));
    EXPECT_THAT(evaluated.to_vector<float>(), ElementsAre(2, 3, 4, 5));
    EXPECT_THAT(copy.to_vector<float>(), ElementsAre(2, 3, 4, 5));
}

TEST(State, DoesNotDisturbTheTensorThatItWasMadeOf)
{
    const Tensor initial = from_vector({1, 2});
    Variable a(initial, false), b(initial, false);
    const Program p = record(
        [&](Tensor x) {
            a.assign(a + x);
            b.assign(b * x);
        },
        {spec({2})});
    p.call({from_vector({3, 4})});
    EXPECT_THAT(initial.to_vector<float>(), ElementsAre(1, 2));
    EXPECT_THAT(a.to_vector<float>(), ElementsAre(4, 6));
    EXPECT_THAT(b.to_vector<float>(), ElementsAre(3, 8));
}

TEST(State, MayBeAViewOfAnything)
{
    const Tensor base = from_vector(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
    Variable v(base.t(), false), row(base.narrow(0, 1, 1), false), wide(from_vector({9}).expand({3}), false);
    const Program p = record(
        [&](Tensor x) {
            v.assign(v + x);
            row.assign(row + x);
            wide.assign(wide + arange(3));
        },
        {spec({1})});
    for (int i = 0; i < 2; ++i) p.call({ones({1})});
    EXPECT_THAT(v.to_vector<float>(), ElementsAre(3, 6, 4, 7, 5, 8));
    EXPECT_THAT(row.to_vector<float>(), ElementsAre(6, 7, 8));
    EXPECT_THAT(wide.to_vector<float>(), ElementsAre(9, 11, 13));
    EXPECT_THAT(base.to_vector<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(State, MayBeGivenAsAnInputToo)
{
    Variable v = cell({1, 2});
    const Program p = record(
        [&](Tensor x) {
            v.assign(v * 10);
            return x + v;
        },
        {spec({2})});
    EXPECT_THAT(p(v).to_vector<float>(), ElementsAre(11, 22));
    EXPECT_THAT(p(v).to_vector<float>(), ElementsAre(110, 220));
}

TEST(State, CellsMayBeSwapped)
{
    Variable a = cell({1}), b = cell({2}), c = cell({3});
    const Program p = record(
        [&](Tensor) {
            const Tensor old = a.detach();
            a.assign(b);
            b.assign(c);
            c.assign(old);
        },
        {spec({1})});
    p.call({ones({1})});
    EXPECT_THAT((std::vector{a.item<float>(), b.item<float>(), c.item<float>()}), ElementsAre(2, 3, 1));
    p.call({ones({1})});
    EXPECT_THAT((std::vector{a.item<float>(), b.item<float>(), c.item<float>()}), ElementsAre(3, 1, 2));
}

TEST(State, TwoCellsMayGetOneValue)
{
    Variable a = cell({1}), b = cell({2});
    const Program p = record(
        [&](Tensor x) {
            const Tensor next = a + x;
            a.assign(next);
            b.assign(next);
            return next;
        },
        {spec({1})});
    const Tensor first = p(ones({1}));
    p(ones({1}));
    EXPECT_EQ(first.item<float>(), 2);
    EXPECT_EQ(a.item<float>(), 3);
    EXPECT_EQ(b.item<float>(), 3);
}

TEST(State, MayTakeAnInputOrAConstantAsItIs)
{
    Variable a = cell({1, 1}), b = cell({2, 2});
    const Tensor constant = from_vector({7, 8});
    const Program p = record(
        [&](Tensor x) {
            a.assign(x);
            b.assign(constant);
        },
        {spec({2})});
    const Tensor x = from_vector({3, 4});
    p.call({x});
    p.call({x});
    EXPECT_THAT(a.to_vector<float>(), ElementsAre(3, 4));
    EXPECT_THAT(b.to_vector<float>(), ElementsAre(7, 8));
    const Program q = record([&] { a.assign(a * 0), b.assign(b * 0); }, {});
    q.call({});
    EXPECT_THAT(x.to_vector<float>(), ElementsAre(3, 4));
    EXPECT_THAT(constant.to_vector<float>(), ElementsAre(7, 8));
}

TEST(State, MayBeReturned)
{
    Variable v = cell({1}), unchanged = cell({5});
    const Program p = record(
        [&](Tensor x) {
            const Tensor old = v.detach();
            v.assign(v + x);
            return std::vector<Tensor>{v, old, unchanged, v.reshape({1, 1})};
        },
        {spec({1})});
    const auto first = p.call({ones({1})}), second = p.call({ones({1})});
    unchanged.assign(from_vector({6}));
    v.assign(from_vector({0}));
    const auto values = [](const std::vector<Tensor>& t) {
        std::vector<float> out;
        for (const Tensor& x : t) out.push_back(x.item<float>());
        return out;
    };
    EXPECT_THAT(values(first), ElementsAre(2, 1, 5, 2));
    EXPECT_THAT(values(second), ElementsAre(3, 2, 5, 3));
}

TEST(State, AnUpdateThatReadsOtherElementsIsNotDoneInPlace)
{
    Variable v = cell({1, 2, 3, 4});
    const Program p = record(
        [&] {
            v.assign(reshape(v.reshape({2, 2}).t(), {4}) * 10 + v.narrow(0, 0, 1));
        },
        {});
    p.call({});
    EXPECT_THAT(v.to_vector<float>(), ElementsAre(11, 31, 21, 41));
}

// The fuser lets one launch compute and overwrite it, if it reads elements of its own only.
TEST(State, IsUpdatedBesideRepeatedInputsOfAllSizes)
{
    for (const std::int64_t rows : {1, 3, 130})
        for (const std::int64_t columns : {1, 5, 64}) {
            Variable v(arange(rows * columns).to(f32).reshape({rows, columns}), false),
                counts(zeros({rows, columns}, {.dtype = i32}), false);
            const Program p = record(
                [&](Tensor row, Tensor flag) {
                    v.assign(v * row + cast(flag > 0, f32));
                    counts.assign(counts + cast(flag.expand({rows, columns}) > 0, i32));
                    return v + 0;
                },
                {spec({columns}), spec({})});
            std::vector<float> want = v.to_vector<float>();
            for (int call = 0; call < 3; ++call) {
                for (std::size_t i = 0; i < want.size(); ++i)
                    want[i] = want[i] * static_cast<float>(i % static_cast<std::size_t>(columns) + 1) +
                              static_cast<float>(call % 2);
                const Tensor out = p(arange(1, columns + 1).to(f32), full({}, call % 2));
                EXPECT_EQ(out.to_vector<float>(), want) << rows << " x " << columns;
                EXPECT_EQ(v.to_vector<float>(), want);
            }
            EXPECT_THAT(counts.to_vector<std::int32_t>(), testing::Each(1));
        }
}

TEST(State, ThatIsReadElsewhereKeepsItsOldElementsMeanwhile)
{
    Variable v = cell({1, 2, 3, 4}), square(from_vector(std::vector<float>{1, 2, 3, 4}, {2, 2}), false);
    const Program p = record(
        [&] {
            v.assign(v * v.narrow(0, 3, 1));
            square.assign(square * 10 + square.narrow(0, 0, 1));
        },
        {});
    p.call({});
    EXPECT_THAT(v.to_vector<float>(), ElementsAre(4, 8, 12, 16));
    EXPECT_THAT(square.to_vector<float>(), ElementsAre(11, 22, 31, 42));
}

// -- the generator --

TEST(State, TheGeneratorGoesOnAsInEagerCode)
{
    const Program p = record(
        [](Tensor x) {
            return std::tuple{dropout(x, 0.5), rand({3}), randn({2})};
        },
        {spec({symbol("n")})});
    const Tensor x = ones({64});
    manual_seed(11);
    const auto first = p.call({x}), second = p.call({x});
    EXPECT_EQ(generator_state().ordinal, 6u);
    manual_seed(11);
    for (const auto* out : {&first, &second}) {
        EXPECT_EQ(test::bits((*out)[0]), test::bits(dropout(x, 0.5)));
        EXPECT_EQ(test::bits((*out)[1]), test::bits(rand({3})));
        EXPECT_EQ(test::bits((*out)[2]), test::bits(randn({2})));
    }
    EXPECT_NE(test::bits(first[0]), test::bits(second[0]));
}

TEST(State, OrdinalsBeyond32Bits)
{
    const Program p = record([](Tensor x) { return x + rand({8}); }, {spec({8})});
    const GeneratorState far{.seed = 0xFFFFFFFFFFFFFFFFu, .ordinal = (std::uint64_t{1} << 33) - 1};
    set_generator_state(far);
    const Tensor a = p(zeros({8}));
    set_generator_state(far);
    EXPECT_EQ(test::bits(a), test::bits(zeros({8}) + rand({8})));
    manual_seed(0);
}

// -- gradients --

TEST(Grads, ThatTheProgramZeroesAreItsOwn)
{
    Variable v(from_vector({2, 3}));
    const auto f = [&](Tensor x) {
        v.zero_grad();
        const Tensor y = sum(v * v * x);
        y.backward();
        return v.grad() * 1;
    };
    const Program p = record(f, {spec({2})});
    EXPECT_FALSE(v.grad().defined());
    EXPECT_THAT(p(ones({2})).to_vector<float>(), ElementsAre(4, 6));
    EXPECT_FALSE(v.grad().defined());
    v.set_grad(ones({2}));
    EXPECT_THAT(p(ones({2})).to_vector<float>(), ElementsAre(4, 6));
    EXPECT_FALSE(v.grad().defined()); // zeroed, as the function says
}

TEST(Grads, AreKeptWhereAskedFor)
{
    Variable v(from_vector({2, 3}));
    const Program p = record(
        [&](Tensor x) {
            v.zero_grad();
            sum(v * v * x).backward();
        },
        {spec({2})}, {.keep_grads = true});
    p.call({ones({2})});
    EXPECT_THAT(v.grad().to_vector<float>(), ElementsAre(4, 6));
    const Tensor kept = v.grad();
    p.call({ones({2}) * 10});
    EXPECT_THAT(v.grad().to_vector<float>(), ElementsAre(40, 60));
    EXPECT_THAT(kept.to_vector<float>(), ElementsAre(4, 6));
}

TEST(Grads, ThatTheProgramAddsToAreState)
{
    for (const bool there : {false, true}) {
        Variable v(from_vector({2, 3}));
        if (there) v.set_grad(from_vector({100, 200}));
        const Program p = record([&](Tensor x) { sum(v * v * x).backward(); }, {spec({2})});
        const float a = there ? 100 : 0, b = there ? 200 : 0;
        for (const float calls : {1.0f, 2.0f, 3.0f}) {
            p.call({ones({2})});
            EXPECT_THAT(v.grad().to_vector<float>(), ElementsAre(a + 4 * calls, b + 6 * calls));
        }
    }
}

TEST(Grads, AccumulateOverCallsUntilAnotherProgramZeroesThem)
{
    Variable v(from_vector({1}));
    const Program add = record([&](Tensor x) { sum(v * x).backward(); }, {spec({1})});
    for (int i = 0; i < 3; ++i) add.call({ones({1})});
    EXPECT_EQ(v.grad().item<float>(), 3);
    const no_grad guard;
    v.assign(v - v.grad());
    v.set_grad(v.grad() * 0);
    EXPECT_EQ(v.item<float>(), -2);
    add.call({ones({1})});
    EXPECT_EQ(v.grad().item<float>(), 1);
}

} // namespace
} // namespace reprise
