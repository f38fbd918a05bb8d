// softmax and log_softmax against plain loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "ops/reduce_tools.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using namespace reduce_tools;
using testing::Each;
using testing::HasSubstr;
using testing::IsNan;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

struct Case {
    const char* name;
    Sizes sizes;
    std::int64_t dim;
};

// Whole texels along the rows and not, rows of other dimensions, more than one block of 256, one element; more and
// fewer elements than a number of lanes takes at once on GPUs.
const std::vector<Case> cases{
    {"one", {1}, 0},
    {"five", {5}, 0},
    {"classes", {128, 10}, 1},
    {"texels", {33, 64}, -1},
    {"four_lanes", {70, 60}, 1},
    {"lanes_of_two_rows", {2, 65, 9}, 1},
    {"nearly_32_fours", {3, 1023}, 1},
    {"32_lanes", {3, 1024}, 1},
    {"a_group_of_fours", {3, 1028}, 1},
    {"a_group", {2, 1029}, 1},
    {"blocks", {3, 1000}, 1},
    {"odd_blocks", {3, 999}, 1},
    {"columns", {40, 7}, 0},
    {"images", {2, 5, 6, 7}, 1},
    {"attention", {2, 3, 8, 8}, 3},
    {"alternating", {3, 4, 2, 5, 3}, 2},
};
class Softmax : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Shapes, Softmax, testing::ValuesIn(cases),
                         [](const auto& c) { return std::string(c.param.name); });

// Along the last dimension of [rows, n].
Floats softmax_of_rows(const Floats& x, std::size_t n, bool logarithm)
{
    Floats y(x.size());
    for (std::size_t row = 0; row < x.size(); row += n) {
        const double largest = *std::max_element(x.data() + row, x.data() + row + n);
        double total = 0;
        for (std::size_t i = row; i < row + n; ++i) total += std::exp(x[i] - largest);
        for (std::size_t i = row; i < row + n; ++i)
            y[i] = static_cast<float>(logarithm ? x[i] - largest - std::log(total)
                                                : std::exp(x[i] - largest) / total);
    }
    return y;
}

// The values of a tensor with `dim` moved to the end.
Floats rows_of(const Tensor& t, std::int64_t dim)
{
    std::vector<std::int64_t> order(static_cast<std::size_t>(t.dim()));
    std::iota(order.begin(), order.end(), 0);
    const auto at = static_cast<std::size_t>(dim < 0 ? dim + t.dim() : dim);
    order.erase(order.begin() + static_cast<std::ptrdiff_t>(at));
    order.push_back(static_cast<std::int64_t>(at));
    return t.permute(order).to_vector<float>();
}

void expect_rows(const Floats& found, const Floats& want, double tolerance)
{
    ASSERT_EQ(found.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_NEAR(found[i], want[i], tolerance * (1 + std::fabs(want[i]))) << i;
}

TEST_P(Softmax, HasTheValues)
{
    const Case& c = GetParam();
    const Tensor x = drawn(c.sizes) * 4.0;
    const auto n = static_cast<std::size_t>(x.size(c.dim).value());
    expect_rows(rows_of(softmax(x, c.dim), c.dim), softmax_of_rows(rows_of(x, c.dim), n, false), 5e-7);
    expect_rows(rows_of(log_softmax(x, c.dim), c.dim), softmax_of_rows(rows_of(x, c.dim), n, true), 5e-7);
}

// A strided view gives the bits of its copy.
TEST_P(Softmax, TakesStridedViews)
{
    const Case& c = GetParam();
    Sizes larger = c.sizes;
    for (std::int64_t& s : larger) s += 2;
    std::reverse(larger.begin(), larger.end());
    std::vector<std::int64_t> reversed(larger.size());
    std::iota(reversed.rbegin(), reversed.rend(), 0);
    Tensor view = permute(drawn(larger, 3), reversed);
    for (std::size_t d = 0; d < c.sizes.size(); ++d)
        view = narrow(view, static_cast<std::int64_t>(d), 1, c.sizes[d]);
    const Tensor copy = from_vector(view.to_vector<float>(), shape_of(c.sizes));
    EXPECT_EQ(softmax(view, c.dim).to_vector<float>(), softmax(copy, c.dim).to_vector<float>());
    EXPECT_EQ(log_softmax(view, c.dim).to_vector<float>(), log_softmax(copy, c.dim).to_vector<float>());
}

TEST_P(Softmax, HasGradients)
{
    const Case& c = GetParam();
    if (count_of(c.sizes) > 3000) return;
    const auto of_softmax = gradient_check([&](const auto& in) { return softmax(in[0], c.dim); }, {c.sizes});
    EXPECT_TRUE(of_softmax.passed) << of_softmax.message;
    const auto of_log = gradient_check([&](const auto& in) { return log_softmax(in[0], c.dim); }, {c.sizes});
    EXPECT_TRUE(of_log.passed) << of_log.message;
}

// The VJP's kernel against its decomposition, on this device.
TEST_P(Softmax, GradientsAgreeWithPrimitives)
{
    const Case& c = GetParam();
    const Tensor dy = drawn(c.sizes, 11);
    Tensor x = drawn(c.sizes, 12).requires_grad_();
    const Tensor p = softmax(x, c.dim);
    expect_rows(grad(p, x, {.retain_graph = true, .cotangents = {dy}}).to_vector<float>(),
                ((dy - sum(dy * p, {c.dim}, true)) * p).to_vector<float>(), 1e-6);
    const Tensor y = log_softmax(x, c.dim);
    expect_rows(grad(y, x, {.retain_graph = true, .cotangents = {dy}}).to_vector<float>(),
                (dy - exp(y) * sum(dy, {c.dim}, true)).to_vector<float>(), 1e-6);
}

TEST(Softmax, HasSecondGradients)
{
    const auto of_softmax =
        gradient_check(gradient_of([](const Tensor& x) { return softmax(x, 1); }), {{3, 5}});
    EXPECT_TRUE(of_softmax.passed) << of_softmax.message;
    const auto of_log =
        gradient_check(gradient_of([](const Tensor& x) { return log_softmax(x, 0); }), {{3, 5}});
    EXPECT_TRUE(of_log.passed) << of_log.message;
}

TEST(Softmax, IsSafeForLargeLogitsAndMinusInfinity)
{
    const Tensor large = from_vector(Floats{1000, 1001, -1000, -inf}, {1, 4});
    const Floats p = softmax(large, 1).to_vector<float>(), y = log_softmax(large, 1).to_vector<float>();
    EXPECT_NEAR(p[0], 0.26894142, 1e-6);
    EXPECT_NEAR(p[1], 0.73105858, 1e-6);
    EXPECT_EQ(p[2], 0);
    EXPECT_EQ(p[3], 0);
    EXPECT_NEAR(y[0], -1.3132617, 1e-6);
    EXPECT_FLOAT_EQ(y[2], -2001.3132617f);
    EXPECT_EQ(y[3], -inf);

    Tensor masked = from_vector(Floats{1, -inf, 2}, {1, 3}).requires_grad_();
    softmax(masked, 1).backward(from_vector(Floats{1, 5, 0}, {1, 3}));
    EXPECT_EQ(masked.grad().to_vector<float>()[1], 0);

    for (const Floats& row : {Floats{-inf, -inf}, Floats{inf, 1}, Floats{nan, 1}}) { // as in PyTorch
        EXPECT_THAT(log_softmax(from_vector(row), 0).to_vector<float>(), Each(IsNan()));
        EXPECT_THAT(softmax(from_vector(row), 0).to_vector<float>(), Each(IsNan()));
    }
}

TEST(Softmax, TakesEmptyTensors)
{
    EXPECT_TRUE(softmax(zeros({0, 4}), 1).to_vector<float>().empty());
    EXPECT_TRUE(log_softmax(zeros({4, 0}), 1).to_vector<float>().empty());
}

TEST(Softmax, RefusesWrongInputs)
{
    const Caught far = error_of([] { return softmax(zeros({2, 3}), 2); });
    EXPECT_EQ(far.kind, ErrorKind::argument);
    EXPECT_THAT(far.text, HasSubstr("[softmax] There is no dimension (2)"));
    const Caught integers = error_of([] { return log_softmax(arange(3), 0); });
    EXPECT_EQ(integers.kind, ErrorKind::dtype);
    EXPECT_THAT(integers.text, HasSubstr("[log_softmax]"));
}

TEST(Softmax, RecordedEqualsEager)
{
    const Dim rows = symbol("rows"), n = symbol("n");
    const Program program = record(
        [](Tensor x) {
            return std::vector<Tensor>{softmax(x, 1), log_softmax(x, 1), log_softmax(x, 0)};
        },
        {spec({rows, n})});
    for (const auto& sizes : {Sizes{1, 1}, Sizes{5, 10}, Sizes{300, 8}, Sizes{2, 1000}, Sizes{0, 3}}) {
        const Tensor x = drawn(sizes, 21);
        const std::vector<Tensor> found = program.call({x});
        EXPECT_EQ(found[0].to_vector<float>(), softmax(x, 1).to_vector<float>());
        EXPECT_EQ(found[1].to_vector<float>(), log_softmax(x, 1).to_vector<float>());
        EXPECT_EQ(found[2].to_vector<float>(), log_softmax(x, 0).to_vector<float>());
    }
}

// lavapipe ends the loops of a shader after 65,535 iterations of all of them together.
TEST(Softmax, TakesRowsOfMoreElementsThanAVocabulary)
{
    constexpr std::int64_t n = 300'000;
    const float share = 1.0f / n;
    Tensor x = zeros({2, n});
    x.requires_grad_();
    const Tensor y = softmax(x, 1), logs = log_softmax(x, 1);
    for (const std::int64_t at : {std::int64_t{0}, n / 2, n - 1}) {
        EXPECT_FLOAT_EQ(narrow(y, 1, at, 1).to_vector<float>()[1], share);
        EXPECT_NEAR(narrow(logs, 1, at, 1).to_vector<float>()[1], std::log(share), 1e-5);
    }
    (sum(narrow(y, 1, n - 1, 1)) + sum(narrow(logs, 1, n - 1, 1))).backward();
    EXPECT_NEAR(narrow(x.grad(), 1, n - 1, 1).to_vector<float>()[1], 1, 1e-4);
    EXPECT_NEAR(narrow(x.grad(), 1, 0, 1).to_vector<float>()[1], -share, 1e-3 * share);
}

} // namespace
