// What a program takes and gives: binding of inputs, results of every kind, bad inputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>

#include "device/registry.hpp"
#include "shape/error_of.hpp"
#include "support/devices.hpp"
#include "support/training.hpp"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Call, GivesEachResultMemoryOfItsOwn)
{
    const Dim n = symbol("n");
    const Program p = record([](Tensor x) { return x * 2; }, {spec({n})});
    const Tensor a = p(from_vector({1, 2, 3})), b = p(from_vector({10})), c = p(from_vector({5, 6}));
    EXPECT_THAT(a.to_vector<float>(), ElementsAre(2, 4, 6));
    EXPECT_THAT(b.to_vector<float>(), ElementsAre(20));
    EXPECT_THAT(c.to_vector<float>(), ElementsAre(10, 12));
}

TEST(Call, TakesAndGivesAnyNumberOfTensors)
{
    const auto seven = record([] { return full({2}, 7) + arange(2); }, {});
    EXPECT_THAT(seven().to_vector<float>(), ElementsAre(7, 8));
    const Variable v(zeros({1}), false);
    const auto none = record(
        [&](Tensor x) {
            Variable state = v;
            state.assign(state + x);
        },
        {spec({1})});
    EXPECT_THAT(none.call({from_vector({3})}), IsEmpty());
    EXPECT_EQ(v.item<float>(), 3);
    const auto several = record([](Tensor a, Tensor b, Tensor c) { return std::tuple(a + b, b * c); },
                                {spec({2}), spec({2}), spec({2})});
    const auto out = several.call({from_vector({1, 2}), from_vector({3, 4}), from_vector({5, 6})});
    EXPECT_THAT(out.at(0).to_vector<float>(), ElementsAre(4, 6));
    EXPECT_THAT(out.at(1).to_vector<float>(), ElementsAre(15, 24));
}

TEST(Call, ResultsMayBeViewsOfInputsOfResultsAndOfConstants)
{
    const Dim n = symbol("n");
    const Tensor constant = from_vector({7, 8});
    const Program p = record(
        [&](Tensor x) {
            const Tensor y = x * 10;
            return std::vector<Tensor>{x, x.transpose(0, 1), y, y.narrow(0, 1, n - 1), constant, y};
        },
        {spec({n, 2})});
    const auto out = p.call({from_vector(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2})});
    EXPECT_THAT(out[0].to_vector<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_THAT(out[1].to_vector<float>(), ElementsAre(1, 3, 5, 2, 4, 6));
    EXPECT_THAT(out[2].to_vector<float>(), ElementsAre(10, 20, 30, 40, 50, 60));
    EXPECT_EQ(to_string(out[3].shape()), "[2, 2]");
    EXPECT_THAT(out[3].to_vector<float>(), ElementsAre(30, 40, 50, 60));
    EXPECT_THAT(out[4].to_vector<float>(), ElementsAre(7, 8));
    EXPECT_THAT(out[5].to_vector<float>(), ElementsAre(10, 20, 30, 40, 50, 60));
}

TEST(Call, TakesInputsThatAreNotContiguousOrPending)
{
    const Program p = record([](Tensor x) { return x * 1; }, {spec({symbol("n"), 2})});
    const Tensor base = from_vector(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
    EXPECT_THAT(p(base.t()).to_vector<float>(), ElementsAre(1, 4, 2, 5, 3, 6));
    EXPECT_THAT(p(base.narrow(1, 1, 2)).to_vector<float>(), ElementsAre(2, 3, 5, 6));
    EXPECT_THAT(p(from_vector(std::vector<float>{9}, {1, 1}).expand({2, 2})).to_vector<float>(),
                ElementsAre(9, 9, 9, 9));
    EXPECT_THAT(p((base + 1).t()).to_vector<float>(), ElementsAre(2, 5, 3, 6, 4, 7));
    EXPECT_THAT(p(ones({1, 2})).to_vector<float>(), ElementsAre(1, 1));
}

void expect_results_read_while_later_calls_fly()
{
    const Variable total(zeros({1}), false);
    const Program add = record(
        [&](Tensor x) {
            Variable t = total;
            t.assign(t + x);
            return t * 2;
        },
        {spec({1})}, {.slots = 3});
    std::vector<Tensor> results;
    for (int i = 0; i < 7; ++i) results.push_back(add(full({1}, i)));
    for (int i = 0; i < 7; ++i)
        EXPECT_EQ(results[static_cast<std::size_t>(i)].item<float>(), i * (i + 1)) << i;
    EXPECT_EQ((results[2] + results[3]).item<float>(), 18); // the device reads them, too
    EXPECT_EQ(add(results[1]).item<float>(), 46);
    EXPECT_EQ(results[1].reshape({1, 1}).item<float>(), 2);
}

TEST(Call, SmallResultsAreReadWhileLaterCallsFly) { expect_results_read_while_later_calls_fly(); }

TEST(Call, SmallResultsOfADeviceWithMemoryOfItsOwnToo)
{
    const std::string id = default_device().name();
    device::reset(id);
    {
        const test::UseDevice use(test::open(device::open(id, {.imitate_discrete = true})));
        expect_results_read_while_later_calls_fly();
        const Program p = record([](Tensor x) { return x * 2; }, {spec({1})});
        const Tensor x = ones({1});
        x.eval();
        const auto transfers = [] { return test::inner(default_device()).counters().transfers; };
        const std::uint64_t before = transfers();
        EXPECT_EQ(p(x).item<float>(), 2);
        EXPECT_EQ(transfers(), before) << "it was copied to be read";
    }
    reset_device(id);
}

TEST(Call, AResultThatBecameStateIsReadAsItIsNow)
{
    Variable v(zeros({2}), false);
    const Program one = record([](Tensor x) { return x + 1; }, {spec({2})});
    const Program twice = record(
        [&] {
            Variable state = v;
            state.assign(state * 2);
        },
        {});
    v.assign(one(from_vector({0, 1})));
    EXPECT_THAT(v.to_vector<float>(), ElementsAre(1, 2));
    for (int i = 0; i < 5; ++i) twice.call({});
    EXPECT_THAT(v.to_vector<float>(), ElementsAre(32, 64));
}

TEST(Call, BindsRowMajorInputsWhereTheyLie)
{
    const Program p = record([](Tensor x) { return x * 2; }, {spec({symbol("n"), 2})});
    const Tensor whole = rand({64, 2}), computed = whole + 1, turned = rand({2, 64}).t();
    for (const Tensor& t : {whole, computed, turned}) t.eval();
    const auto replays = [&](const Tensor& x) {
        const std::uint64_t before = stats().replays;
        p(x);
        return stats().replays - before;
    };
    EXPECT_EQ(replays(whole), 1u);
    EXPECT_EQ(replays(computed), 1u);
    EXPECT_EQ(replays(turned), 2u) << "a copy and the call";
}

TEST(Call, OneTensorMayComeTwice)
{
    const Dim n = symbol("n");
    const Program p = record([](Tensor a, Tensor b) { return a * b; }, {spec({n}), spec({n})});
    const Tensor x = from_vector({2, 3});
    EXPECT_THAT(p(x, x).to_vector<float>(), ElementsAre(4, 9));
}

TEST(Call, SizesThatFollowFromSymbols)
{
    const Dim n = symbol("n");
    const Program p = record([](Tensor a, Tensor b) { return a + b.narrow(0, 0, a.size(0)); },
                             {spec({n}), spec({n * 2 + 1})});
    EXPECT_THAT(p(ones({2}), ones({5})).to_vector<float>(), ElementsAre(2, 2));
    const Caught wrong = error_of([&] { return p(ones({2}), ones({6})); });
    EXPECT_EQ(wrong.kind, ErrorKind::shape);
    EXPECT_THAT(wrong.text, HasSubstr("n * 2 + 1"));
    EXPECT_THAT(p(ones({1}), ones({3})).to_vector<float>(), ElementsAre(2));
}

TEST(Call, TwoSymbolsThatMustBeEqualAreChecked)
{
    const Program p =
        record([](Tensor a, Tensor b) { return a + b; }, {spec({symbol("a")}), spec({symbol("b")})});
    EXPECT_THAT(p(ones({3}), ones({3})).to_vector<float>(), ElementsAre(2, 2, 2));
    const Caught wrong = error_of([&] { return p(ones({3}), ones({2})); });
    EXPECT_EQ(wrong.kind, ErrorKind::shape);
    EXPECT_THAT(wrong.text, HasSubstr("[add]"));
    EXPECT_EQ(error_of([&] { return p(ones({3}), ones({1})); }).kind,
              ErrorKind::shape); // no symbol broadcasts
    EXPECT_THAT(p(ones({2}), ones({2})).to_vector<float>(), ElementsAre(2, 2));
}

struct Bad {
    const char* name;
    std::vector<Tensor> (*inputs)();
    ErrorKind kind;
    const char* fragment;
};

class BadInput : public testing::TestWithParam<Bad> {};
INSTANTIATE_TEST_SUITE_P(
    Kinds, BadInput,
    testing::Values(Bad{"none", [] { return std::vector<Tensor>{}; }, ErrorKind::argument,
                        "takes (2) inputs, not (0)"},
                    Bad{"count",
                        [] {
                            return std::vector<Tensor>{ones({4, 20})};
                        },
                        ErrorKind::argument, "takes (2) inputs, not (1)"},
                    Bad{"rank",
                        [] {
                            return std::vector<Tensor>{ones({4, 4, 5}), zeros({4}, {.dtype = i32})};
                        },
                        ErrorKind::shape, "[4, 4, 5]"},
                    Bad{"fixed_size",
                        [] {
                            return std::vector<Tensor>{ones({4, 21}), zeros({4}, {.dtype = i32})};
                        },
                        ErrorKind::shape, "(21)"},
                    Bad{"dtype",
                        [] {
                            return std::vector<Tensor>{ones({4, 20}), zeros({4})};
                        },
                        ErrorKind::dtype, "(f32) but was recorded as (i32)"},
                    Bad{"symbol",
                        [] {
                            return std::vector<Tensor>{ones({4, 20}), zeros({5}, {.dtype = i32})};
                        },
                        ErrorKind::shape, "The size (batch) is (4) by an earlier input but (5)"},
                    Bad{"undefined",
                        [] {
                            return std::vector<Tensor>{ones({4, 20}), Tensor()};
                        },
                        ErrorKind::argument, "undefined"},
                    Bad{"device",
                        [] {
                            const Device other = test::imitation("null");
                            return std::vector<Tensor>{ones({4, 20}, {.device = other}),
                                                       zeros({4}, {.dtype = i32, .device = other})};
                        },
                        ErrorKind::device, "Input (0) is on (null)"}),
    [](const auto& test) { return test.param.name; });

TEST_P(BadInput, IsAnErrorAndChangesNothing)
{
    test::Training t(test::Net::mlp), undisturbed(test::Net::mlp);
    const Program p = t.recorded(symbol("batch")), q = undisturbed.recorded(symbol("batch"));
    const auto before = t.state();
    const Caught error = error_of([&] { return p.call(GetParam().inputs()); });
    EXPECT_EQ(error.kind, GetParam().kind) << error.text;
    EXPECT_THAT(error.text, HasSubstr(GetParam().fragment));
    EXPECT_EQ(t.state(), before);
    const auto [x, target] = t.batch(3, 1);
    EXPECT_EQ(test::bits(p(x, target)), test::bits(q(x, target)));
    EXPECT_EQ(t.state(), undisturbed.state());
}

TEST(Call, OfAnEmptyProgramIsAnError)
{
    const Program p;
    EXPECT_FALSE(p.defined());
    EXPECT_EQ(error_of([&] { return p(ones({1})); }).kind, ErrorKind::state);
    EXPECT_EQ(error_of([&] { return p.text(); }).kind, ErrorKind::state);
    EXPECT_EQ(error_of([&] { return p.launches(); }).kind, ErrorKind::state);
}

TEST(Call, CopiesShareTheProgram)
{
    Variable v(zeros({1}), false);
    const Program p = record(
        [&](Tensor x) {
            v.assign(v + x);
            return v * 1;
        },
        {spec({1})});
    const Program q = p;
    p(ones({1}));
    EXPECT_EQ(q(ones({1})).item<float>(), 2);
}

TEST(Call, SaysWhatEachLaunchTook)
{
    const Dim n = symbol("n");
    const Program p = record([](Tensor a, Tensor b) { return matmul(exp(a), b); },
                             {spec({n, 16}), spec({16, 4})}, {.timestamps = true});
    EXPECT_THAT(p.times(), IsEmpty()) << "there was no call";
    p(ones({8, 16}), ones({16, 4})).eval();
    default_device().synchronize();
    const std::vector<LaunchTime> times = p.times();
    double end = 0, flops = 0;
    for (const LaunchTime& t : times) {
        EXPECT_FALSE(t.label.empty());
        EXPECT_GE(t.begin, end);
        EXPECT_GE(t.end, t.begin);
        EXPECT_GT(t.bytes, 0);
        end = t.end;
        flops += t.flops;
    }
    const bool counted = default_device().name() != "reference" && !times.empty();
    EXPECT_EQ(flops >= 2 * 8 * 16 * 4, counted);
}

TEST(Call, TimesAreOfTheCallThatEndedLastAtItsSizes)
{
    const Program p = record([](Tensor x) { return sum(exp(x) * 2); }, {spec({symbol("n")})},
                             {.slots = 3, .timestamps = true});
    const auto bytes = [&] {
        double sum = 0;
        for (const LaunchTime& t : p.times()) sum += t.bytes;
        return sum;
    };
    const std::vector<std::int64_t> sizes = {100000, 7, 50000, 1, 70000};
    std::vector<Tensor> inputs;
    std::vector<double> alone;
    for (const std::int64_t n : sizes) {
        inputs.push_back(ones({n}));
        p(inputs.back()).eval();
        default_device().synchronize();
        alone.push_back(bytes());
    }
    if (p.times().empty()) return;                               // the device has no timestamps
    for (std::size_t first = 0; first < sizes.size(); ++first) { // three in flight
        for (std::size_t i = 0; i < 3; ++i) p(inputs[(first + i) % sizes.size()]);
        const double in_flight = bytes(); // of one of those that were called
        EXPECT_TRUE(in_flight == 0 || std::find(alone.begin(), alone.end(), in_flight) != alone.end());
        default_device().synchronize();
        EXPECT_EQ(bytes(), alone[(first + 2) % sizes.size()]);
        double end = 0;
        for (const LaunchTime& t : p.times()) {
            EXPECT_GE(t.begin, end);
            EXPECT_GE(t.end, t.begin);
            end = t.end;
        }
    }
}

} // namespace
} // namespace reprise
