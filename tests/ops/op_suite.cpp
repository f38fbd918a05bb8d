// One body for each check, run over all rows of op_info on the device of REPRISE_DEVICE.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>

#include <reprise/program.hpp>
#include <reprise/random.hpp>

#include "ops/near.hpp"
#include "ops/registry.hpp"
#include "shape/error_of.hpp"
#include "support/devices.hpp"
#include "testing/op_suite.hpp"

namespace reprise::test {
namespace {

class Row : public testing::TestWithParam<std::string> {
protected:
    const OpInfo& row = op_info(GetParam());
    const Setting here{default_device()}, oracle{Device("reference"), true};
};
const auto name_of_row = [](const auto& test) { return test.param; };

void expect_same_bits(const std::vector<Tensor>& got, const std::vector<Tensor>& want,
                      const std::string& what)
{
    ASSERT_EQ(got.size(), want.size()) << what;
    for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].defined(), want[i].defined()) << what << ": " << i;
        if (!got[i].defined()) continue;
        ASSERT_EQ(to_string(got[i].shape()), to_string(want[i].shape())) << what << ": " << i;
        if (bits(got[i]) == bits(want[i])) continue;
        const std::vector<double> a = doubles(got[i]), b = doubles(want[i]);
        for (std::size_t e = 0; e < a.size(); ++e)
            ASSERT_TRUE(std::isnan(a[e]) ? std::isnan(b[e])
                                         : a[e] == b[e] && std::signbit(a[e]) == std::signbit(b[e]))
                << what << ": element " << e << " of " << i << " is " << a[e] << ", not " << b[e];
    }
}

// -- values and gradients against the reference --

struct Forward : Row {};
INSTANTIATE_TEST_SUITE_P(Ops, Forward, testing::ValuesIn(rows_for(Check::forward)), name_of_row);

TEST_P(Forward, FollowsTheReference)
{
    for (const Sample& sample : row.samples)
        for (const std::int64_t size : sample.sizes) {
            const Data data = draw(row, sample, size);
            const Outcome got = run(sample, data, here, false), want = run(sample, data, oracle, false);
            ASSERT_EQ(got.outputs.size(), want.outputs.size());
            for (std::size_t i = 0; i < got.outputs.size(); ++i)
                expect_near(got.outputs[i], want.outputs[i],
                            sample.tolerance ? sample.tolerance : row.tolerance,
                            describe(sample, size) + ", output " + std::to_string(i));
        }
}

struct Gradient : Row {};
INSTANTIATE_TEST_SUITE_P(Ops, Gradient, testing::ValuesIn(rows_for(Check::gradient)), name_of_row);

TEST_P(Gradient, FollowsTheReference)
{
    int compared = 0;
    for (const Sample& sample : row.samples) {
        if (!sample.differentiable) continue;
        for (const std::int64_t size : sample.sizes) {
            const Data data = draw(row, sample, size);
            const Outcome got = run(sample, data, here, true), want = run(sample, data, oracle, true);
            ASSERT_EQ(got.gradients.size(), want.gradients.size());
            for (std::size_t i = 0; i < got.gradients.size(); ++i) {
                const std::string what = describe(sample, size) + ", gradient " + std::to_string(i);
                ASSERT_EQ(got.gradients[i].defined(), want.gradients[i].defined()) << what;
                if (!got.gradients[i].defined()) continue;
                ++compared;
                expect_near(got.gradients[i], want.gradients[i],
                            4 * (sample.tolerance ? sample.tolerance : row.tolerance), what);
            }
        }
    }
    EXPECT_GT(compared, 0);
}

// -- the same bits by other ways --

struct Views : Row {
protected:
    // A library of products may add up in another order where operands lie otherwise; nothing else may.
    void expect_same(const std::vector<Tensor>& got, const std::vector<Tensor>& want, const Sample& sample,
                     const std::string& what) const
    {
        if (inner(here.device).capabilities().product_library.empty())
            return expect_same_bits(got, want, what);
        ASSERT_EQ(got.size(), want.size()) << what;
        for (std::size_t i = 0; i < got.size(); ++i)
            if (got[i].defined())
                expect_near(got[i], want[i], 4 * (sample.tolerance ? sample.tolerance : row.tolerance), what);
    }
};
INSTANTIATE_TEST_SUITE_P(Ops, Views, testing::ValuesIn(rows_for(Check::views)), name_of_row);

TEST_P(Views, GiveTheBitsOfContiguousInputs)
{
    const std::vector<Layout> all{Layout::transposed, Layout::narrowed, Layout::expanded};
    const Layout turn = all[(row.name.size() + static_cast<unsigned char>(row.name[0])) % all.size()];
    for (const Sample& sample : row.samples) {
        if (sample.arguments.empty() || (!row.thorough && &sample != &row.samples.front())) continue;
        const std::int64_t size = sample.sizes[sample.sizes.size() > 1 ? sample.sizes.size() - 2 : 0];
        const bool gradient = row.differentiable && sample.differentiable;
        for (const Layout layout : all) {
            if (!row.thorough && layout != turn) continue;
            Data data = draw(row, sample, size);
            if (layout == Layout::expanded) repeat_first(data);
            Setting viewed = here;
            viewed.layout = layout;
            const UseDevice use(here.device);
            const std::vector<Tensor> plain = inputs(sample, data, here);
            const std::vector<Tensor> seeds =
                gradient ? cotangents(sample.call(plain), here) : std::vector<Tensor>();
            const Outcome want = evaluate(sample, plain, seeds),
                          got = evaluate(sample, inputs(sample, data, viewed), seeds);
            const std::string what =
                describe(sample, size) + ", layout " + std::to_string(static_cast<int>(layout));
            expect_same(got.outputs, want.outputs, sample, what);
            expect_same(got.gradients, want.gradients, sample, what + ", gradients");
        }
        if (gradient && row.thorough) { // cotangents that are views
            const Data data = draw(row, sample, size);
            Setting viewed = here;
            viewed.layout = Layout::transposed;
            const UseDevice use(here.device);
            const std::vector<Tensor> plain = inputs(sample, data, here);
            const std::vector<Tensor> outputs = sample.call(plain);
            expect_same(evaluate(sample, plain, cotangents(outputs, viewed)).gradients,
                        evaluate(sample, plain, cotangents(outputs, here)).gradients, sample,
                        describe(sample, size) + ", cotangents");
        }
    }
}

// Eager code whose plans serve all samples of a row, with every size that differs as a symbol.
struct EagerPlans : Row {};

std::vector<std::string> rows_of_several_samples()
{
    std::vector<std::string> rows = rows_for(Check::recorded);
    std::erase_if(rows, [](const std::string& name) { return op_info(name).samples.size() < 2; });
    return rows;
}
INSTANTIATE_TEST_SUITE_P(Ops, EagerPlans, testing::ValuesIn(rows_of_several_samples()), name_of_row);

TEST_P(EagerPlans, HaveTheBitsOfPlansOfTheirOwn)
{
    const auto all = [&] {
        std::vector<Outcome> out;
        for (const Sample& sample : row.samples)
            for (const std::int64_t size : sample.sizes)
                out.push_back(
                    run(sample, draw(row, sample, size), here, row.differentiable && sample.differentiable));
        return out;
    };
    std::vector<Outcome> want;
    {
        const PlansOfTheirOwn planned;
        want = all();
    }
    for (int round = 0; round < 2; ++round) {
        const std::vector<Outcome> got = all();
        for (std::size_t i = 0; i < got.size(); ++i) {
            const std::string what = std::to_string(round) + ", evaluation " + std::to_string(i);
            expect_same_bits(got[i].outputs, want[i].outputs, what);
            expect_same_bits(got[i].gradients, want[i].gradients, what + ", gradients");
        }
    }
}

struct Recorded : Row {
protected:
    // Shapes of the outputs, with the symbol.
    static std::vector<Spec> output_specs(const std::vector<Spec>& specs, const TracedFunction& call)
    {
        struct Seen {};
        std::vector<Spec> out;
        try {
            record_function(
                [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
                    for (const Tensor& y : call(in)) out.push_back(spec(y.shape(), y.dtype()));
                    throw Seen();
                },
                specs);
        } catch (const Seen&) {}
        return out;
    }
};
INSTANTIATE_TEST_SUITE_P(Ops, Recorded, testing::ValuesIn(rows_for(Check::recorded)), name_of_row);

TEST_P(Recorded, GivesTheBitsOfEagerCodeAtEachSize)
{
    const PlansOfTheirOwn planned; // sizes are known in eager code's plans, and symbols in the program's
    for (const Sample& sample : row.samples) {
        const bool gradient = row.differentiable && sample.differentiable;
        std::vector<Spec> specs;
        for (const Argument& a : sample.arguments)
            if (!a.number) specs.push_back(spec(a.sizes, a.dtype));
        // Numbers are constants of the program.
        const Data drawn = draw(row, sample, sample.sizes.back());
        const auto all = [&](const std::vector<Tensor>& in) {
            std::vector<Tensor> out;
            for (std::size_t i = 0, k = 0; i < sample.arguments.size(); ++i)
                out.push_back(sample.arguments[i].number ? full({}, drawn.values[i][0]) : in[k++]);
            return out;
        };
        std::vector<Spec> with_seeds = specs;
        std::vector<bool> seeded; // by output
        if (gradient)
            for (const Spec& s : output_specs(specs, [&](const auto& in) { return sample.call(all(in)); })) {
                seeded.push_back(is_floating(s.dtype));
                if (seeded.back()) with_seeds.push_back(s);
            }
        const Program program = record_function(
            [&](const std::vector<Tensor>& in) {
                std::vector<Tensor> plain = all(in), seeds, results;
                if (gradient) {
                    std::size_t k = specs.size();
                    for (const bool floating : seeded) seeds.push_back(floating ? in[k++] : Tensor());
                }
                const Outcome o = evaluate(sample, plain, seeds);
                results = o.outputs;
                for (const Tensor& g : o.gradients)
                    if (g.defined()) results.push_back(g);
                return results;
            },
            with_seeds);
        for (const std::int64_t size : sample.sizes) {
            Data data = draw(row, sample, size);
            for (std::size_t i = 0; i < data.values.size(); ++i)
                if (sample.arguments[i].number) data.values[i] = drawn.values[i];
            const std::vector<Tensor> in = inputs(sample, data, here);
            const std::vector<Tensor> seeds =
                gradient ? cotangents(sample.call(in), here) : std::vector<Tensor>();
            const Outcome want = evaluate(sample, in, seeds);
            std::vector<Tensor> given, results = want.outputs;
            for (std::size_t i = 0; i < in.size(); ++i)
                if (!sample.arguments[i].number) given.push_back(in[i]);
            for (const Tensor& s : seeds)
                if (s.defined()) given.push_back(s);
            for (const Tensor& g : want.gradients)
                if (g.defined()) results.push_back(g);
            manual_seed(3); // of the samples that draw
            expect_same_bits(program.call(given), results, describe(sample, size));
        }
    }
}

// -- mistakes --

struct Mistakes : Row {};
INSTANTIATE_TEST_SUITE_P(Ops, Mistakes, testing::ValuesIn([] {
                             std::vector<std::string> names;
                             for (const OpInfo& row : op_infos())
                                 if (!row.mistakes.empty()) names.push_back(row.name);
                             return names;
                         }()),
                         name_of_row);

TEST_P(Mistakes, AreErrorsThatSayWhat)
{
    for (const Mistake& mistake : row.mistakes) {
        const Caught error = error_of([&] { return mistake.call(), 0; });
        EXPECT_EQ(error.kind, mistake.kind) << mistake.what << ": " << error.text;
        EXPECT_THAT(error.text, testing::HasSubstr(mistake.fragment)) << mistake.what;
        // std::regex, as GoogleTest's own lacks brackets on Windows.
        const std::regex begins_with_the_op("\\[[a-z0-9_]+\\] ");
        EXPECT_TRUE(std::regex_search(error.text, begins_with_the_op, std::regex_constants::match_continuous))
            << mistake.what << ": " << error.text;
    }
}

// -- the rows themselves --

TEST(OpInfoRows, ThereIsOneForEachOp)
{
    std::set<std::string> ops, rows;
    for (const graph::Op* op : ops::structured_ops()) ops.insert(op->name);
    for (const graph::Op* op : ops::elementwise_ops()) ops.insert(op->name);
    for (const OpInfo& row : op_infos()) {
        EXPECT_FALSE(row.samples.empty()) << row.name;
        if (!row.is_op) continue;
        EXPECT_TRUE(rows.insert(row.name).second) << row.name << " comes twice";
    }
    EXPECT_EQ(rows, ops);
}

TEST(OpInfoRows, SayWhatHasAGradient)
{
    const auto check = [](const graph::Op* op) {
        EXPECT_EQ(op_info(op->name).differentiable, op->vjp || op->decompose) << op->name;
    };
    for (const graph::Op* op : ops::structured_ops()) check(op);
    for (const graph::Op* op : ops::elementwise_ops()) check(op);
}

TEST(OpInfoRows, EachSkipHasAReason)
{
    for (const OpInfo& row : op_infos())
        for (const auto& [check, reason] : row.skips) EXPECT_GT(reason.size(), 10u) << row.name;
}

} // namespace
} // namespace reprise::test
