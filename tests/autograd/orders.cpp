// Derivatives of the table of ops beyond the second, and every VJP as a linear function of its cotangent,
// against central differences in double on the reference device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>

#include "testing/op_suite.hpp"
#include "testing/use_device.hpp"

namespace reprise {
namespace {

using Tensors = std::vector<Tensor>;

// A sample in double, as a function of the arguments that it is differentiated by to one number.
struct Problem {
    const test::Sample& sample;
    test::Setting setting{Device("reference"), true};
    Tensors all, by;

    static std::int64_t size_of(const test::Sample& s)
    {
        const auto few = std::find_if(s.sizes.begin(), s.sizes.end(), [](std::int64_t n) { return n > 1; });
        return few == s.sizes.end() ? s.sizes.back() : *few;
    }
    Problem(const test::OpInfo& row, const test::Sample& s)
        : sample(s), all(test::inputs(s, test::draw(row, s, size_of(s)), setting))
    {
        for (std::size_t i = 0; i < all.size(); ++i)
            if (differentiable(i)) by.push_back(all[i]);
    }
    bool differentiable(std::size_t i) const
    {
        const test::Argument& a = sample.arguments[i];
        return is_floating(a.dtype) && a.differentiable && !a.number;
    }
    Tensor operator()(const Tensors& given) const
    {
        Tensors in = all;
        for (std::size_t i = 0, k = 0; i < in.size(); ++i)
            if (differentiable(i)) in[i] = given[k++];
        const Tensors outputs = sample.call(in), weights = test::cotangents(outputs, setting);
        Tensor total = zeros({}, {.dtype = f64});
        for (std::size_t i = 0; i < outputs.size(); ++i)
            if (is_floating(outputs[i].dtype())) total = total + sum(outputs[i] * weights[i]);
        return total;
    }
};

// The gradient of f, mixed into one number.
FunctionOfSeveral slope(const FunctionOfSeveral& f, const test::Setting& setting)
{
    return [f, setting](const Tensors& x) {
        const Tensors g = grad(f, x, {.create_graph = true}), weights = test::cotangents(g, setting);
        Tensor total = zeros({}, {.dtype = f64});
        for (std::size_t i = 0; i < g.size(); ++i) // depends on x, be the gradient constant
            total = total + sum(g[i] * weights[i]) + sum(x[i]) * 0.0;
        return total;
    };
}

class Orders : public testing::TestWithParam<std::string> {};

std::string name_of_row(const testing::TestParamInfo<std::string>& row) { return row.param; }
INSTANTIATE_TEST_SUITE_P(Rows, Orders, testing::ValuesIn(test::rows_for(test::Check::twice)), name_of_row);

TEST_P(Orders, TheThird)
{
    const test::OpInfo& row = test::op_info(GetParam());
    const test::Sample& sample = row.samples.front();
    if (!sample.differentiable) return;
    const Problem p(row, sample);
    const test::UseDevice use(p.setting.device);
    const GradCheck r =
        gradcheck(slope(slope(p, p.setting), p.setting), p.by, {.directions = 1, .tolerance = 1e-5});
    EXPECT_TRUE(r.passed) << r.message;
}

TEST_P(Orders, TheVjpIsLinearInItsCotangent)
{
    const test::OpInfo& row = test::op_info(GetParam());
    const test::Sample& sample = row.samples.front();
    if (!sample.differentiable) return;
    const Problem p(row, sample);
    const test::UseDevice use(p.setting.device);
    const Tensors v = test::cotangents(p.by, p.setting);
    const double along = jvp(FunctionOfSeveral(p), p.by, v).second.item<double>();
    const Tensors g = grad(FunctionOfSeveral(p), p.by);
    double want = 0;
    for (std::size_t i = 0; i < g.size(); ++i) want += sum(g[i] * v[i]).item<double>();
    EXPECT_NEAR(along, want, 1e-12 * (1 + std::fabs(want)));
}

} // namespace
} // namespace reprise
