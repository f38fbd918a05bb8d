// Eager code whose evaluations are like earlier ones replays them: with nothing made anew, and the bits of plans of its
// own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <optional>

#include <reprise/autograd.hpp>
#include <reprise/eager.hpp>
#include <reprise/memory.hpp>
#include <reprise/ops.hpp>
#include <reprise/random.hpp>

#include "eager/context.hpp"
#include "eager/during.hpp"
#include "shape/error_of.hpp"
#include "support/training.hpp"

namespace reprise {
namespace {

using test::alone;
using test::Bits;
using test::bits;
using test::during;
using test::Eager;
using test::made_nothing;
using testing::HasSubstr;

using Numbers = std::vector<std::int64_t>;

// The bits of each case with a plan of its own; then those of `first`, and of all cases with nothing made anew.
template <class Case, class F>
void expect_replayed(const std::vector<Case>& first, const std::vector<Case>& cases, const F& f)
{
    const auto want = alone([&] {
        std::vector<Bits> out;
        for (const Case& c : cases) out.push_back(f(c));
        return out;
    });
    for (const Case& c : first) f(c);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Stats s = during([&] { EXPECT_EQ(f(cases[i]), want[i]) << "case " << i; });
        EXPECT_TRUE(made_nothing(s)) << "case " << i << '\n' << describe_eager_plans();
        EXPECT_GT(s.eager_replays, 0u);
    }
}

Tensor input(const Shape& s, std::uint64_t seed = 1) { return test::random_tensor(s, seed); }

TEST_F(Eager, TheSecondOfAStructureIsRecordedAndTheThirdReplays)
{
    const Tensor x = input({4, 6});
    const auto run = [&] { return bits(sum(tanh(x) * x)); };
    Bits first;
    EXPECT_EQ(plans([&] { first = run(); }), 1u);
    EXPECT_EQ(plans([&] { EXPECT_EQ(run(), first); }), 1u);
    const Stats third = during([&] { EXPECT_EQ(run(), first); });
    EXPECT_EQ(third.eager_replays, 1u);
    EXPECT_TRUE(made_nothing(third));
}

TEST_F(Eager, SizesThatDifferBecomeSymbols)
{
    expect_replayed(Numbers{5, 9}, Numbers{2, 3, 64, 0, 100, 5, 9}, [](std::int64_t n) {
        const Tensor x = input({n, 6}, static_cast<std::uint64_t>(n)), w = input({6, 3}, 7);
        eval({x, w});
        return bits(sum(exp(matmul(x, w)), {0}));
    });
}

// What follows from sizes in the shapes that a user writes.
TEST_F(Eager, AttributesFollowTheSizes)
{
    using Sizes = std::pair<std::int64_t, std::int64_t>;
    expect_replayed(std::vector<Sizes>{{2, 6}, {3, 10}}, std::vector<Sizes>{{4, 7}, {5, 6}, {2, 11}},
                    [](Sizes sizes) {
                        const auto [b, t] = sizes;
                        const Tensor x = input({b, t, 8}, 3);
                        x.eval();
                        Tensor y = narrow(reshape(x, {b * t, 8}), 0, 1, b * t - 1);
                        y = narrow(cat({y, zeros({t, 8})}, 0), 0, 0, b * t);
                        y = transpose(reshape(y, {b, t, 2, 4}), 1, 2) * (1.0 / static_cast<double>(t));
                        return bits(y + reshape(cast(arange(t), f32), {1, 1, t, 1}));
                    });
}

TEST_F(Eager, APlaceThatMovesIsASymbol)
{
    const Tensor x = input({100});
    expect_replayed(Numbers{3, 40}, Numbers{0, 90, 17},
                    [&](std::int64_t at) { return bits(narrow(x, 0, at, 10) + 1); });
}

TEST_F(Eager, NumbersMayDiffer)
{
    const Tensor x = input({7});
    expect_replayed(std::vector<double>{0.1, 0.2}, std::vector<double>{0.3, -7.0, 1e30, 0.1},
                    [&](double rate) { return bits(x * rate - 3); });
}

// What kernels or shape rules take for nothing at all is another structure.
TEST_F(Eager, ZeroAndOneAreStructure)
{
    const Tensor x = input({2, 7});
    const auto scaled = [&](double rate) { return bits(x * rate - rate); };
    const auto normed = [&](double b) { return bits(layer_norm(x * -0.0, {7}, full({7}, 1), full({7}, b))); };
    const std::vector<double> rates = {0.5, 0.25, 0.0, -0.0, 1.0, 3.0};
    const auto all = [&] {
        std::vector<Bits> out;
        for (const double r : rates) out.push_back(scaled(r)), out.push_back(normed(r));
        return out;
    };
    const auto want = alone(all);
    for (int round = 0; round < 3; ++round) EXPECT_EQ(all(), want) << round;
}

// Sizes that are repeated beside sizes that are equal, of one rank.
TEST_F(Eager, WhatIsRepeatedFollowsTheCall)
{
    const auto run = [](const Shape& from, const Shape& to) {
        const Tensor x = input(from, 5);
        x.eval();
        return bits(expand(x, to) * 2);
    };
    const std::vector<std::pair<Shape, Shape>> cases = {
        {{1, 3}, {2, 4, 3}}, {{4, 3}, {2, 4, 3}}, {{4, 1}, {2, 4, 3}}, {{1, 1}, {2, 4, 3}},
        {{5, 3}, {2, 5, 3}}, {{1, 3}, {2, 1, 3}}, {{1, 3}, {2, 5, 3}}, {{4, 3}, {1, 4, 3}},
        {{6, 2}, {9, 6, 2}}, {{1, 2}, {9, 6, 2}},
    };
    const auto all = [&] {
        std::vector<Bits> out;
        for (const auto& [from, to] : cases) out.push_back(run(from, to));
        return out;
    };
    const auto want = alone(all);
    for (int round = 0; round < 3; ++round) EXPECT_EQ(all(), want) << round;
}

// What broadcasts is one structure, what does not another, and each has one plan for all sizes.
TEST_F(Eager, ASizeOfOneIsStructure)
{
    struct Case {
        std::int64_t rows;
        bool repeated;
    };
    expect_replayed(std::vector<Case>{{2, true}, {3, true}, {2, false}, {3, false}},
                    std::vector<Case>{{4, true}, {5, false}, {6, true}, {7, true}, {8, false}, {9, false}},
                    [](const Case& c) {
                        const Tensor x = input({c.rows, 3}, 1), y = input({c.repeated ? 1 : c.rows, 3}, 2);
                        eval({x, y});
                        return bits(x + y);
                    });
}

// What strides say of a view's memory: turned, repeated, with gaps.
TEST_F(Eager, LayoutsOfOneRankAreToldApart)
{
    const std::vector<std::function<Tensor(const Tensor&)>> views = {
        [](const Tensor& x) {
            return expand(narrow(x, 0, 0, 1), {4, 4});
        },
        [](const Tensor& x) {
            return expand(narrow(x, 1, 2, 1), {4, 4});
        },
        [](const Tensor& x) { return transpose(x, 0, 1); },
        [](const Tensor& x) { return narrow(x, 1, 1, 2); },
        [](const Tensor& x) { return narrow(transpose(x, 0, 1), 0, 1, 3); },
    };
    const auto all = [&] {
        std::vector<Bits> out;
        for (const auto& view : views) {
            const Tensor y = view(exp(input({4, 4})));
            y.eval();
            out.push_back(bits(y));
            out.push_back(bits(y + 1));
        }
        return out;
    };
    const auto want = alone(all);
    for (int round = 0; round < 3; ++round) EXPECT_EQ(all(), want) << round;
}

TEST_F(Eager, RandomOpsDrawOn)
{
    const Tensor x = input({3, 50});
    const auto run = [&] { return bits(dropout(x, 0.5) + dropout(rand({3, 50}), 0.2)); };
    const auto many = [&] {
        manual_seed(5);
        std::vector<Bits> out;
        for (int i = 0; i < 5; ++i) out.push_back(run());
        manual_seed(0xFFFFFFFFFFFFFFFFu);
        for (int i = 0; i < 3; ++i) out.push_back(run());
        return out;
    };
    const auto want = alone(many);
    many();
    std::vector<Bits> got;
    EXPECT_TRUE(made_nothing(during([&] { got = many(); })));
    EXPECT_EQ(got, want);
}

TEST_F(Eager, ViewsOfWhatWasComputedAreRead)
{
    expect_replayed(Numbers{4, 4, 6, 6}, Numbers{5, 2, 40}, [](std::int64_t n) {
        const Tensor x = input({n, 8}, 2);
        const Tensor turned = narrow(transpose(exp(x), 0, 1), 0, 2, 5);
        turned.eval(); // strided, with an offset
        return bits(turned * 2 + 1);
    });
}

TEST_F(Eager, OtherStructuresAreOthers)
{
    const Tensor x = input({4, 4}), whole = cast(x * 10, i32);
    eval({x, whole});
    const std::vector<std::function<Tensor()>> all = {
        [&] { return exp(x); },
        [&] { return tanh(x); },
        [&] { return x + x; },
        [&] { return sum(x, {0}); },
        [&] { return sum(x, {1}); },
        [&] {
            return sum(x, {0, 1});
        },
        [&] { return sum(x, {0}, true); },
        [&] { return transpose(x, 0, 1) + x; },
        [&] { return x + transpose(x, 0, 1); },
        [&] { return narrow(x, 0, 1, 2) * 1; },
        [&] { return narrow(x, 1, 1, 2) * 1; },
        [&] { return cast(x, i32); },
        [&] { return cast(x, boolean); },
        [&] { return whole + whole; },
        [&] { return cast(whole, f32); },
        [&] { return full({4}, 3, {.dtype = i32}) + 1; },
        [&] { return full({4}, 4, {.dtype = i32}) + 1; },
        [&] { return leaky_relu(x, 0.1); },
        [&] { return leaky_relu(x, 0.2); },
    };
    std::vector<Bits> want;
    for (const auto& f : all) want.push_back(alone([&] { return bits(f()); }));
    for (int round = 0; round < 3; ++round)
        for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(bits(all[i]()), want[i]) << i;
}

// A pass whose values somebody else holds and has not read is not computed for its running statistics.
TEST_F(Eager, WhatCellsWereGivenWaitsForThePassThatItIsOf)
{
    Variable mean(zeros({1}), false), passes(zeros({1}), false);
    const Tensor x = input({4, 4}), other = input({3}, 2);
    eval({x, other, mean, passes});
    const auto nodes = [](const Tensor& t) { return during([&] { t.eval(); }).eager_nodes; };
    passes.assign(passes + 1);
    const std::uint64_t of_passes = nodes(passes), of_other = nodes(other + 1);
    const auto pass = [&] {
        const Tensor y = tanh(matmul(x, x));
        mean.assign(mean * 0.9 + reshape(y.mean(), {1}) * 0.1);
        passes.assign(passes + 1);
        return y;
    };
    Tensor y = pass();
    EXPECT_EQ(nodes(other + 1), of_other + of_passes);
    const std::uint64_t of_pass = nodes(sum(y));
    EXPECT_EQ(nodes(mean), 0u);

    y = pass();
    EXPECT_EQ(nodes(sum(y)), of_pass + of_passes);
    pass(); // nobody has what it gives: it is the statistics' alone
    EXPECT_GE(nodes(other + 1), of_other + of_pass);
    EXPECT_EQ(nodes(mean), 0u);
}

// The loss that a backward pass started from is computed with the first gradient that is read, and not before.
TEST_F(Eager, ALossIsComputedWithItsGradients)
{
    const Tensor other = input({3}, 2);
    Variable w(input({4, 4}));
    eval({other, w});
    const auto nodes = [](const Tensor& t) { return during([&] { t.eval(); }).eager_nodes; };
    const std::uint64_t of_other = nodes(other + 1);
    const auto loss_of = [&] { return sum(exp(w) * 0.5); }; // whose gradient reads what exp gave
    const auto expect_with_gradient = [&](const char* of,
                                          const std::function<Tensor(const Tensor&)>& gradient) {
        const Tensor loss = loss_of();
        const Tensor d = gradient(loss);
        EXPECT_EQ(nodes(other + 1), of_other) << of;
        EXPECT_GT(nodes(d), 0u) << of;
        EXPECT_EQ(nodes(loss), 0u) << of;
    };
    const auto by_backward = [&](const BackwardOptions& options) {
        return [&w, options](const Tensor& loss) {
            w.zero_grad();
            loss.backward({}, options);
            return w.grad();
        };
    };
    expect_with_gradient("backward", by_backward({}));
    expect_with_gradient("retain_graph", by_backward({.retain_graph = true}));
    expect_with_gradient("create_graph", by_backward({.create_graph = true}));
    expect_with_gradient("gradients", [&](const Tensor& loss) { return loss.gradients().get(w); });
    expect_with_gradient("grad", [&](const Tensor& loss) { return grad(loss, w); });
    {
        GradientTape tape;
        tape.watch(w);
        expect_with_gradient("a tape", [&](const Tensor& loss) { return tape.gradient(loss, w); });
    }
    const auto [value, gradient] = value_and_grad([&](const Tensor& x) { return sum(exp(x) * 0.5); }, w);
    EXPECT_GT(nodes(gradient), 0u);
    EXPECT_EQ(nodes(value), 0u);
}

TEST_F(Eager, WhatABackwardPassWasSeededAtIsNotComputedForIt)
{
    Variable w(input({4, 4}));
    w.eval();
    const auto nodes = [](const Tensor& t) { return during([&] { t.eval(); }).eager_nodes; };
    const Tensor y = w * w, z = w * w, dy = input({4, 4}, 3);
    dy.eval();
    y.backward(dy);
    w.grad().eval();
    EXPECT_GT(nodes(y), 0u);
    grad(z, w, {.cotangents = {dy}}).eval();
    EXPECT_GT(nodes(z), 0u);
    const Tensor loss = sum(w * w), v = w * w; // one of two
    grad(std::vector{loss, v}, std::vector<Tensor>{w}, {.cotangents = {Tensor(), dy}}).front().eval();
    EXPECT_EQ(nodes(loss), 0u);
    EXPECT_GT(nodes(v), 0u);
}

TEST_F(Eager, WhatCantBeComputedBesideAnotherFailsForItself)
{
    Variable large(zeros({1, 1}), false);
    const Tensor other = input({3}, 2);
    eval({large, other});
    const Device d = default_device();
    const std::uint64_t before = d.context()->device()->counters().memory_limit;
    d.set_memory_limit(d.live_bytes() + (1 << 16));
    const auto square = [](const Tensor& t) { return matmul(t, t); }; // nobody else has what is in between
    large.assign(reshape(sum(square(expand(large, {1 << 8, 1 << 8}))), {1, 1}) + 1);
    for (int i = 0; i < 3; ++i) EXPECT_NO_THROW(eval({other + 1})) << i;
    EXPECT_EQ(error_of([&] { large.eval(); }).kind, ErrorKind::out_of_memory);
    d.set_memory_limit(before);
    EXPECT_EQ(large.item<float>(), 1);
}

TEST_F(Eager, ReplaysCheckpoints)
{
    const Variable w(input({16, 16}, 2)), v(input({16, 16}, 3));
    const auto run = [&](std::int64_t n) {
        const Tensor x = input({n, 16}, 4);
        const auto block = [&](const Tensor& t) { return dropout(tanh(matmul(tanh(matmul(t, w)), v)), 0.1); };
        const Tensor y = checkpoint(block, checkpoint(block, x));
        const std::vector<Tensor> g = grad({sum(y)}, {w, v});
        eval({g[0], g[1], y});
        return std::vector{bits(g[0]), bits(g[1]), bits(y)};
    };
    const auto many = [&] {
        manual_seed(1);
        std::vector<std::vector<Bits>> out;
        for (const std::int64_t n : {4, 6, 9, 4, 5}) out.push_back(run(n));
        return out;
    };
    const auto want = alone(many);
    many();
    std::vector<std::vector<Bits>> got;
    EXPECT_TRUE(made_nothing(during([&] { got = many(); })));
    EXPECT_EQ(got, want);
}

// The features of attention's heads are numbers of its kernels.
TEST_F(Eager, PlansAnewWhereTheRulesDoNotFollowAndSaysSo)
{
    const auto run = [](std::int64_t features) {
        const Tensor q = input({1, 1, 520, features}, 1); // so many keys that no matrices are made
        q.eval();
        return bits(scaled_dot_product_attention(q, q, q, {.scale = 0.5}));
    };
    const auto all = [&] {
        std::vector<Bits> out;
        for (const std::int64_t n : {4, 8, 4, 8, 12, 4, 8}) out.push_back(run(n));
        return out;
    };
    EXPECT_EQ(alone(all), all());
    const test::UseDevice use(test::imitation("lavapipe"));
    all();
    EXPECT_THAT(describe_eager_plans(), HasSubstr("planned anew for other sizes: "));
    for (const std::int64_t n : {4, 8}) // each has a plan of its own
        EXPECT_TRUE(made_nothing(during([&] { run(n); }))) << n;
}

// As if the sizes of reshape() were written for one batch: [n, 2, 3] to {n / 2, 12}, and to two factors of n.
TEST_F(Eager, NumbersThatAUserHasWrittenFollowOrArePlannedAnew)
{
    struct Case {
        std::int64_t n, rows;
    };
    const auto f = [](const Case& c) {
        const Tensor x = input({c.n, 6});
        x.eval();
        return bits(sum(exp(reshape(x, {c.rows, 6 * c.n / c.rows})), {-1}));
    };
    expect_replayed<Case>({{128, 128}, {64, 64}}, {{32, 32}, {128, 128}, {7, 7}}, f);
    expect_replayed<Case>({{128, 64}, {64, 32}}, {{32, 16}, {128, 64}, {6, 3}}, f);
    const std::vector<Case> free = {{12, 3}, {20, 4}, {30, 5}, {12, 2}, {20, 10}, {12, 3}, {42, 6}};
    const auto all = [&] {
        std::vector<Bits> out;
        for (const Case& c : free) out.push_back(f(c));
        return out;
    };
    const auto want = alone(all);
    EXPECT_EQ(all(), want);
    EXPECT_THAT(describe_eager_plans(), HasSubstr("served 5 times by 1 plan"));
}

// -- what is kept --

// A chain of ops at a size, with its gradient or without, of random structure.
Bits random_step(test::Numbers& random, std::int64_t longest, bool read)
{
    const std::int64_t n = random.integer(1, 4);
    const Variable x(input({n, 3}, static_cast<std::uint64_t>(n)));
    Tensor y = x;
    for (std::int64_t i = random.integer(1, longest); i > 0; --i) switch (random.integer(0, 5)) {
        case 0: y = exp(y * 0.1); break;
        case 1: y = tanh(y); break;
        case 2: y = y + x; break;
        case 3: y = y * sum(x, {0}); break;
        case 4: y = matmul(y, transpose(y, 0, 1)).sum({-1}, true) + x; break;
        default: y = neg(y);
        }
    if (random.integer(0, 1) == 1) y = grad(sum(y * y), x);
    y.eval();
    return read ? bits(y) : Bits();
}

TEST_F(Eager, KeepsNoMoreThanItMay)
{
    const test::UseDevice use(test::imitation("lavapipe"));
    constexpr std::uint64_t most = 32;
    set_eager_plans(most);
    test::Numbers random(1);
    const Tensor x = input({4});
    std::uint64_t served = 0;
    for (int step = 0; step < 10000; ++step) {
        random_step(random, 6, false);
        served += replays([&] { (tanh(x) * 0.5 + x).eval(); }); // used last, it stays
        ASSERT_LE(stats(default_device()).eager_plans, most);
    }
    EXPECT_EQ(stats(default_device()).eager_plans, most);
    EXPECT_EQ(served, 9998u);
    set_eager_plans(0);
    EXPECT_EQ(describe_eager_plans(), "");
    EXPECT_EQ(replays([&] { (tanh(x) * 0.5 + x).eval(); }), 0u);
}

TEST_F(Eager, RandomStructuresThatComeAndGoHaveTheBitsOfPlansOfTheirOwn)
{
    const auto run = [](std::size_t most) {
        set_eager_plans(most);
        test::Numbers random(2);
        std::vector<Bits> out;
        for (int step = 0; step < 300; ++step) out.push_back(random_step(random, 2, true));
        return out;
    };
    const auto want = run(0);
    std::vector<Bits> got;
    EXPECT_GT(replays([&] { got = run(32); }), 20u);
    EXPECT_EQ(got, want);
}

TEST_F(Eager, GivesTheMemoryBack)
{
    const auto run = [&](std::int64_t n) { return bits(sum(tanh(exp(input({n, 64}))))); };
    for (const std::int64_t n : {10, 20, 1000, 10}) run(n);
    const MemoryTracker memory;
    const std::uint64_t before = memory.current();
    for (const std::int64_t n : {500, 1000, 3}) run(n);
    EXPECT_EQ(memory.current(), before);
}

TEST_F(Eager, SaysWhatItKeeps)
{
    const Tensor x = input({3});
    const auto run = [&] { bits(exp(x) + 1); };
    run();
    EXPECT_THAT(describe_eager_plans(), HasSubstr("planned once"));
    run();
    run();
    EXPECT_THAT(describe_eager_plans(), HasSubstr("up to add: served 1 time"));
}

TEST_F(Eager, ABudgetPlansEachEvaluation)
{
    const Tensor x = input({64});
    const auto run = [&] { bits(exp(x) + 1); };
    set_memory_budget(1 << 20);
    EXPECT_EQ(replays([&] {
                  for (int i = 0; i < 4; ++i) run();
              }),
              0u);
    set_memory_budget(std::nullopt);
}

} // namespace
} // namespace reprise
