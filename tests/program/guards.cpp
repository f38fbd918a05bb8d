// What a recording could not decide is checked at each call: an error that says what is wrong, and nothing of
// the call has happened.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/ops.hpp>
#include <reprise/program.hpp>
#include <reprise/random.hpp>

#include "shape/error_of.hpp"
#include "support/devices.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using testing::HasSubstr;

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

struct Kind {
    const char* name;
    Function call;
    std::vector<Shape> specs;
    std::vector<Shape> legal, broken; // sizes of the inputs
    std::vector<const char*> says;
    bool eager_too = true; // false: the sizes broadcast there, or the condition is one of the specs
};

Dim a() // of this file's specs
{
    static const Dim symbol = reprise::symbol("a");
    return symbol;
}
Dim b()
{
    static const Dim symbol = reprise::symbol("b");
    return symbol;
}
Dim tokens()
{
    static const Dim symbol = reprise::symbol("tokens", {.min = 2, .max = 32, .multiple_of = 2});
    return symbol;
}

const std::vector<Kind>& kinds()
{
    using In = std::vector<Tensor>;
    static const std::vector<Kind> all{
        {"EqualSizes",
         [](const In& in) { return sum(in[0] + in[1]); },
         {{a(), 2}, {b(), 2}},
         {{3, 2}, {3, 2}},
         {{3, 2}, {1, 2}},
         {"[add]", "(a) is (3), not (b) = (1)", "a = 3, b = 1"},
         false},
        {"ASymbolAndANumber",
         [](const In& in) { return sum(in[0] * ones({4})); },
         {{a()}},
         {{4}},
         {{1}},
         {"[mul]", "(a) is (1), not (4)"},
         false},
        {"Expand",
         [](const In& in) {
             return sum(expand(in[0], {2, 5}));
         },
         {{a()}},
         {{5}},
         {{1}},
         {"[expand]", "(a) is (1), not (5)"},
         false},
        {"InnerSizes",
         [](const In& in) { return sum(matmul(in[0], in[1])); },
         {{2, a()}, {b(), 3}},
         {{2, 4}, {4, 3}},
         {{2, 4}, {5, 3}},
         {"[matmul]", "a = 4, b = 5"}},
        {"BatchSizes",
         [](const In& in) { return sum(matmul(in[0], in[1])); },
         {{a(), 2, 3}, {b(), 3, 2}},
         {{2, 2, 3}, {2, 3, 2}},
         {{2, 2, 3}, {1, 3, 2}},
         {"[matmul]", "a = 2, b = 1"},
         false},
        {"ElementCounts",
         [](const In& in) { return sum(reshape(in[0], {6})); },
         {{a(), 2}},
         {{3, 2}},
         {{2, 2}},
         {"[reshape]", "(a * 2) is (4), not (6)"}},
        {"Divisibility",
         [](const In& in) {
             return sum(reshape(in[0], {-1, 4}) * 2);
         },
         {{a(), 2}},
         {{4, 2}},
         {{3, 2}},
         {"[reshape]", "(a * 2) is (6), no multiple of (4)", "a = 3"}},
        {"Heads",
         [](const In& in) {
             const Dim heads = 2, size = in[0].size(1);
             return sum(transpose(reshape(in[0], {in[0].size(0), heads, floor_div(size, heads)}), 0, 1));
         },
         {{3, a()}},
         {{3, 8}},
         {{3, 7}},
         {"[reshape]", "a = 7"}},
        {"ARangeThatEndsOutside",
         [](const In& in) { return sum(narrow(in[0], 0, 2, 3)); },
         {{a(), 2}},
         {{5, 2}},
         {{4, 2}},
         {"[narrow]", "(a) is (4), not at least (5)"}},
        {"ANegativeLength",
         [](const In& in) { return sum(narrow(in[0], 0, 1, in[0].size(0) - 3)); },
         {{a()}},
         {{3}},
         {{2}},
         {"[narrow]", "a = 2"}},
        {"AWindowOfAConvolution",
         [](const In& in) {
             return sum(conv2d(in[0], ones({2, 1, 3, 3}), {}, {.stride = {2, 2}, .padding = {1, 0}}));
         },
         {{2, 1, a(), b()}},
         {{2, 1, 1, 3}},
         {{2, 1, 4, 2}},
         {"[conv2d]", "(b) is (2), not at least (3)"}},
        {"AWindowOfAPooling",
         [](const In& in) { return sum(max_pool2d(in[0], 2)); },
         {{1, 1, a(), 4}},
         {{1, 1, 2, 4}},
         {{1, 1, 1, 4}},
         {"[max_pool2d]", "(a) is (1), not at least (2)"}},
        {"NothingToBeTheLargest",
         [](const In& in) { return sum(amax(in[0], {1})); },
         {{2, a()}},
         {{2, 1}},
         {{2, 0}},
         {"[amax]", "(a) is (0), not at least (1)"}},
        {"ANegativeSize",
         [](const In& in) { return sum(in[0]) + sum(ones({in[0].size(0) - 2})); },
         {{a()}},
         {{2}},
         {{1}},
         {"[full]", "negative", "a = 1"}},
        {"ASymbolsLeast",
         [](const In& in) { return sum(in[0]); },
         {{tokens()}},
         {{2}},
         {{0}},
         {"[program]", "dimension (0) of input (0)", "(tokens) is (0): it must be at least (2)"},
         false},
        {"ASymbolsMost",
         [](const In& in) { return sum(in[0]); },
         {{tokens()}},
         {{32}},
         {{34}},
         {"(tokens) is (34): it must be at most (32)"},
         false},
        {"ASymbolsMultiple",
         [](const In& in) { return sum(in[0]); },
         {{tokens()}},
         {{4}},
         {{5}},
         {"(tokens) is (5): it must be a multiple of (2)"},
         false},
        {"ASizeThatIsSolved",
         [](const In& in) { return sum(narrow(in[0], 0, 0, a())); },
         {{a() * 2 + 1}},
         {{5}},
         {{6}},
         {"(6)", "(a * 2 + 1)", "any integer (a)"},
         false},
        {"ASizeThatFollows",
         [](const In& in) { return sum(in[0]) + sum(in[1]); },
         {{a()}, {a() * a() + 1}},
         {{2}, {5}},
         {{2}, {4}},
         {"(4)", "(a * a + 1) = (5)"},
         false},
        {"AnAssignedShape",
         [](const In& in) {
             Variable v(zeros({3}), false);
             v.assign(in[0]);
             return sum(v);
         },
         {{a()}},
         {{3}},
         {{4}},
         {"[assign]", "(a) is (4), not (3)"}},
        {"AGuardBeforeADivisionByNothing",
         [](const In& in) {
             const Dim n = in[0].size(0);
             const Tensor some = narrow(in[0], 0, 0, 1); // n >= 1
             return sum(some) + sum(reshape(in[1], {n, floor_div(in[1].size(0), n)}));
         },
         {{a()}, {b()}},
         {{2}, {4}},
         {{0}, {4}},
         {"[narrow]", "(a) is (0), not at least (1)"}}};
    return all;
}

class GuardKinds : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Each, GuardKinds, testing::Range(std::size_t{0}, kinds().size()),
                         [](const auto& test) { return kinds()[test.param].name; });

std::vector<Tensor> inputs_of(const std::vector<Shape>& sizes)
{
    std::vector<Tensor> in;
    for (std::size_t i = 0; i < sizes.size(); ++i) in.push_back(test::random_tensor(sizes[i], i + 1));
    return in;
}

TEST_P(GuardKinds, SaysWhatIsWrongAndLeavesTheProgramUsable)
{
    const Kind& kind = kinds()[GetParam()];
    Variable state(from_vector({1}), false);
    int hooks = 0;
    std::vector<Spec> specs;
    for (const Shape& s : kind.specs) specs.push_back(spec(s));
    const Program p = record_function(
        [&](const std::vector<Tensor>& in) {
            on_each_call([&hooks] { ++hooks; });
            state.assign(state + 1);
            return std::vector<Tensor>{kind.call(in), rand({2})};
        },
        specs);
    const std::vector<Tensor> legal = inputs_of(kind.legal), broken = inputs_of(kind.broken);
    manual_seed(5);
    p.call(legal);
    const GeneratorState before = generator_state();
    for (int again = 0; again < 2; ++again) {
        const Caught error = error_of([&] { return p.call(broken); });
        EXPECT_EQ(error.kind, ErrorKind::shape) << error.text;
        for (const char* part : kind.says) EXPECT_THAT(error.text, HasSubstr(part));
    }
    EXPECT_EQ(generator_state().ordinal, before.ordinal);
    EXPECT_EQ(hooks, 1);
    EXPECT_EQ(state.item<float>(), 2);

    const std::vector<Tensor> out = p.call(legal);
    EXPECT_EQ(hooks, 2);
    EXPECT_EQ(state.item<float>(), 3);
    set_generator_state(before);
    EXPECT_EQ(test::bits(out[1]), test::bits(rand({2})));
}

TEST(Guards, AreErrorsAtOnceInEagerCode)
{
    for (const Kind& kind : kinds()) {
        if (!kind.eager_too) continue;
        EXPECT_EQ(error_of([&] { return kind.call(inputs_of(kind.broken)); }).kind, ErrorKind::shape)
            << kind.name;
    }
}

TEST(Guards, AreDecidedWhileRecordingWhereTheSymbolsSayEnough)
{
    const Dim n = symbol("n", {.min = 4, .max = 64, .multiple_of = 4});
    const auto f = [](Tensor x) {
        const Tensor heads = reshape(x, {-1, 4, 2}), window = narrow(x, 0, 1, 3);
        return sum(heads) + sum(window) + sum(amax(x, {0}));
    };
    const Program p = record(f, {spec({n, 2})});
    EXPECT_THAT(p.text(), testing::Not(HasSubstr("guard")));
    EXPECT_THAT(p.text(), HasSubstr("symbol n >= 4, <= 64, a multiple of 4"));
    const Program q = record(f, {spec({symbol("m"), 2})});
    EXPECT_THAT(q.text(), HasSubstr("guard m >= 4"));
    EXPECT_THAT(q.text(), HasSubstr("guard 8 divides m * 2"));
}

// On an imitation of a device with kernels: what is known of a symbol spares launches.
TEST(Guards, KernelsAreChosenByWhatTheSymbolsSay)
{
    const Device device = test::imitation("lavapipe");
    const auto launches = [&](const Dim& n, const std::function<Tensor(Tensor)>& f) {
        return record(f, {spec({n, 3})}, {.device = device}).launches();
    };
    const Dim any = symbol("any"), few = symbol("few", {.max = 256});
    const auto column_sums = [](Tensor x) { return sum(x, {0}); };
    EXPECT_LT(launches(few, column_sums), launches(any, column_sums)) << "one level of partial sums";
}

TEST(Guards, ZeroAndOneAreSizesLikeOthers)
{
    const Dim n = symbol("n");
    const Program p = record(
        [](Tensor x, Tensor row) {
            return std::vector<Tensor>{x + row, sum(x, {0}), x.reshape({-1, 2}),
                                       matmul(x, row.reshape({2, 1})), flatten(x)};
        },
        {spec({n, 2}), spec({1, 2})});
    for (const std::int64_t size : {0, 1, 2}) {
        const Tensor x = test::random_tensor({size, 2}, 1), row = test::random_tensor({1, 2}, 2);
        const std::vector<Tensor> got = p.call({x, row});
        EXPECT_EQ(to_string(got[0].shape()), to_string({size, 2}));
        EXPECT_EQ(test::bits(got[0]), test::bits(x + row));
        EXPECT_EQ(test::bits(got[1]), test::bits(sum(x, {0})));
        EXPECT_EQ(test::bits(got[3]), test::bits(matmul(x, row.reshape({2, 1}))));
        EXPECT_EQ(to_string(got[4].shape()), to_string({size * 2}));
    }
}

TEST(Specs, MayHoldASymbolInAnExpressionOnly)
{
    const Dim n = symbol("n"), even = symbol("even", {.multiple_of = 2});
    const Program p = record([&](Tensor x) { return narrow(x, 0, n, n + 1); }, {spec({n * 2 + 1})});
    EXPECT_EQ(p(arange(7).to(f32)).to_vector<float>(), (std::vector<float>{3, 4, 5, 6}));
    EXPECT_EQ(p(arange(1).to(f32)).to_vector<float>(), (std::vector<float>{0}));
    const Program q = record([&](Tensor x) { return x + ones({floor_div(even, 2) * 3}); },
                             {spec({floor_div(even, 2) * 3})});
    EXPECT_EQ(q(zeros({6})).to_vector<float>(), std::vector<float>(6, 1));
    EXPECT_EQ(error_of([&] { return q(zeros({7})); }).kind, ErrorKind::shape);
    // A symbol that is given elsewhere too is not solved for.
    const Program r = record([](Tensor x, Tensor y) { return sum(x) + sum(y); }, {spec({n * 2}), spec({n})});
    EXPECT_EQ(r(ones({4}), ones({2})).item<float>(), 6);
    EXPECT_THAT(error_of([&] { return r(ones({5}), ones({2})); }).text, HasSubstr("(n * 2) = (4)"));
}

TEST(Specs, ASymbolThatNoCallGivesIsAnError)
{
    const Dim n = symbol("n"), m = symbol("m");
    for (const auto& specs : {std::vector{spec({n * m})}, std::vector{spec({n, n * n + m * m})},
                              std::vector{spec({min(n, 3)})}}) {
        const Caught error = error_of([&] { return record([](Tensor x) { return x * 2; }, specs); });
        EXPECT_EQ(error.kind, ErrorKind::argument);
        EXPECT_THAT(error.text, HasSubstr("that no call would give"));
    }
    const Caught inside =
        error_of([&] { return record([&](Tensor x) { return x + ones({m}); }, {spec({n})}); });
    EXPECT_EQ(inside.kind, ErrorKind::argument);
    EXPECT_THAT(inside.text, HasSubstr("(m)"));
}

} // namespace
} // namespace reprise
