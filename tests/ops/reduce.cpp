// Sums, means, maxima and their indices against plain loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <numeric>

#include "ops/reduce_tools.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using namespace reduce_tools;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsNan;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

struct Case {
    const char* name;
    Sizes sizes;
    std::vector<std::int64_t> dims;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

// Each layout of the kernels: rows of texels, columns of texels, neither; one block and several; dimensions
// that merge and that do not; sizes of 1.
const std::vector<Case> cases{
    {"scalar", {}, {}},
    {"one", {1}, {0}},
    {"three", {3}, {0}},
    {"row_of_256", {256}, {0}},
    {"row_of_257", {257}, {0}},
    {"rows", {5, 64}, {1}},
    {"rows_of_10", {129, 10}, {1}},
    {"rows_of_many_blocks", {3, 1000}, {1}},
    {"long_row", {100003}, {0}},
    {"columns", {70, 8}, {0}},
    {"odd_columns", {300, 7}, {0}},
    {"columns_of_many_blocks", {2000, 12}, {0}},
    {"middle", {3, 40, 16}, {1}},
    {"middle_odd", {2, 9, 5}, {1}},
    {"channels", {6, 4, 14, 14}, {0, 2, 3}},
    {"channels_odd", {6, 4, 7, 7}, {0, 2, 3}},
    {"outer_and_inner", {9, 6, 12}, {0, 2}},
    {"alternating", {3, 4, 5, 6, 7}, {0, 2, 4}},
    {"alternating_kept", {3, 4, 5, 6, 8}, {1, 3}},
    {"ones", {1, 5, 1, 8, 1}, {2, 3}},
    {"ones_only", {4, 1, 3}, {1}},
    {"all", {7, 5, 3}, {}},
    {"negative", {4, 6}, {-1}},
};

class Reduce : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Shapes, Reduce, testing::ValuesIn(cases),
                         [](const auto& c) { return std::string(c.param.name); });

std::vector<std::int64_t> normal(const Case& c)
{
    std::vector<std::int64_t> dims = c.dims;
    for (std::int64_t& d : dims) d = d < 0 ? d + static_cast<std::int64_t>(c.sizes.size()) : d;
    return dims;
}

// Bits where kernels run, else a tolerance.
void expect_sums(const Floats& found, const std::vector<Floats>& groups)
{
    ASSERT_EQ(found.size(), groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const double want = std::accumulate(groups[i].begin(), groups[i].end(), 0.0);
        EXPECT_NEAR(found[i], want, 1e-5 + 1e-6 * std::fabs(want)) << i;
        if (runs_kernels()) {
            EXPECT_EQ(found[i], runs_kernels_of_gpus() ? sum_by_class_of_gpus(groups[i], groups.size())
                                                       : sum_by_class(groups[i]))
                << i;
        }
    }
}

TEST_P(Reduce, SumsAsTheClassSays)
{
    const Case& c = GetParam();
    const auto groups = groups_of(numbers(count_of(c.sizes)), c.sizes, normal(c));
    expect_sums(sum(drawn(c.sizes), c.dims).to_vector<float>(), groups);
}

// A view of a larger tensor has the bits of its copy.
TEST_P(Reduce, SumsStridedViewsAlike)
{
    const Case& c = GetParam();
    if (c.sizes.empty()) return;
    const auto rank = static_cast<std::int64_t>(c.sizes.size());
    Sizes larger = c.sizes;
    for (std::int64_t& s : larger) s += 3;
    std::reverse(larger.begin(), larger.end());
    std::vector<std::int64_t> reversed(larger.size());
    std::iota(reversed.rbegin(), reversed.rend(), 0);
    Tensor view = permute(drawn(larger), reversed);
    for (std::int64_t d = 0; d < rank; ++d)
        view = narrow(view, d, d % 3, c.sizes[static_cast<std::size_t>(d)]);
    expect_sums(sum(view, c.dims).to_vector<float>(), groups_of(view.to_vector<float>(), c.sizes, normal(c)));
}

TEST_P(Reduce, FindsMaximaAndKeepsDims)
{
    const Case& c = GetParam();
    const Tensor x = drawn(c.sizes, 7);
    const Tensor y = amax(x, c.dims, true);
    EXPECT_EQ(y.dim(), x.dim());
    const auto groups = groups_of(numbers(count_of(c.sizes), 7), c.sizes, normal(c));
    Floats want;
    for (const Floats& g : groups) want.push_back(*std::max_element(g.begin(), g.end()));
    EXPECT_EQ(y.to_vector<float>(), want);
    EXPECT_EQ(amax(x, c.dims).to_vector<float>(), want);
}

TEST_P(Reduce, HasGradients)
{
    const Case& c = GetParam();
    if (count_of(c.sizes) > 5000) return;
    const auto of_sum = gradient_check([&](const auto& in) { return sum(square(in[0]), c.dims); }, {c.sizes});
    EXPECT_TRUE(of_sum.passed) << of_sum.message;
    const auto of_mean =
        gradient_check([&](const auto& in) { return mean(square(in[0]), c.dims, true); }, {c.sizes});
    EXPECT_TRUE(of_mean.passed) << of_mean.message;
    const auto of_amax =
        gradient_check([&](const auto& in) { return square(amax(in[0], c.dims)); }, {c.sizes});
    EXPECT_TRUE(of_amax.passed) << of_amax.message;
}

TEST(Sum, OfManyIsAccurate)
{
    const std::int64_t count = 16 << 20;
    const Tensor x = full({count}, 0.1).contiguous();
    EXPECT_NEAR(sum(x).item<float>() / (static_cast<double>(0.1f) * count), 1, 1e-6);
}

TEST(Sum, OfNothingIsZero)
{
    EXPECT_EQ(sum(zeros({0, 3})).item<float>(), 0);
    EXPECT_THAT(sum(zeros({0, 3}), {0}).to_vector<float>(), ElementsAre(0, 0, 0));
    EXPECT_THAT(sum(zeros({0, 3}), {1}).to_vector<float>(), IsEmpty());
    EXPECT_THAT(mean(zeros({2, 0}), {1}).to_vector<float>(), Each(IsNan()));
}

// So that the sum of one element is that element, which eager code does not sum at all.
TEST(Sum, StartsFromNothingThatChangesABit)
{
    for (const std::int64_t n : {1, 5, 8, 32, 300, 1000, 70000}) {
        EXPECT_TRUE(std::signbit(sum(full({n}, -0.0)).item<float>())) << n;
        for (const float v : sum(full({n, 8}, -0.0), {0}).to_vector<float>())
            EXPECT_TRUE(std::signbit(v)) << n;
        for (const float v : sum(full({3, n}, -0.0), {1}).to_vector<float>())
            EXPECT_TRUE(std::signbit(v)) << n;
    }
    EXPECT_FALSE(std::signbit(sum(zeros({0})).item<float>()));
    for (const float v : sum(zeros({0, 8}), {0}).to_vector<float>()) EXPECT_FALSE(std::signbit(v));
}

TEST(Sum, OfIntegersHas64Bits)
{
    const std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const Tensor total = sum(from_vector(std::vector<std::int32_t>{most, 1, 1}, {3})),
                 many = sum(arange(70000));
    EXPECT_EQ(total.dtype(), i64);
    EXPECT_EQ(total.item<std::int64_t>(), most + 2);
    EXPECT_EQ(many.item<std::int64_t>(), 70000ll * 69999 / 2);
    EXPECT_THAT(sum(arange(12).reshape({3, 4}), {0}).to_vector<std::int64_t>(), ElementsAre(12, 15, 18, 21));
}

TEST(Sum, CountsBools)
{
    const Tensor x = from_vector(Floats{1, -2, 3, 0, 5});
    const Tensor positive = sum(x > 0.0);
    EXPECT_EQ(positive.dtype(), i64);
    EXPECT_EQ(positive.item<std::int64_t>(), 3);
}

TEST(Sum, HasSecondGradients)
{
    const auto cube = [](const Tensor& x) { return sum(x * x * x, {0}); };
    const auto check = gradient_check(gradient_of(cube), {{3, 4}});
    EXPECT_TRUE(check.passed) << check.message;
}

TEST(Sum, GradientOfAScalarIsAView)
{
    Tensor x = drawn({3, 5}).requires_grad_();
    sum(x).backward();
    EXPECT_THAT(x.grad().to_vector<float>(), Each(1));
    EXPECT_EQ(sizes_of(x.grad()), (Sizes{3, 5}));
}

TEST(Sum, RefusesWrongDims)
{
    const Tensor x = zeros({2, 3});
    const Caught twice = error_of([&] { return sum(x, {0, -2}); });
    EXPECT_EQ(twice.kind, ErrorKind::argument);
    EXPECT_THAT(twice.text, HasSubstr("[sum] Dimension (-2) is given twice"));
    const Caught far = error_of([&] { return sum(x, {2}); });
    EXPECT_EQ(far.kind, ErrorKind::argument);
    EXPECT_THAT(far.text, HasSubstr("(2)"));
    const Caught integers = error_of([&] { return mean(arange(3)); });
    EXPECT_EQ(integers.kind, ErrorKind::dtype);
    EXPECT_THAT(integers.text, HasSubstr("[mean]"));
}

TEST(Mean, DividesByTheCount)
{
    EXPECT_FLOAT_EQ(mean(arange(5, {.dtype = f32})).item<float>(), 2);
    EXPECT_THAT(mean(arange(6, {.dtype = f32}).reshape({2, 3}), {0}).to_vector<float>(),
                ElementsAre(1.5f, 2.5f, 3.5f));
}

TEST(SumTo, SumsWhatBroadcastingMade)
{
    const Tensor x = arange(24, {.dtype = f32}).reshape({2, 3, 4});
    EXPECT_EQ(sizes_of(sum_to(x, {3, 1})), (Sizes{3, 1}));
    EXPECT_THAT(sum_to(x, {3, 1}).to_vector<float>(), ElementsAre(60, 92, 124));
    EXPECT_THAT(sum_to(x, {4}).to_vector<float>(), ElementsAre(60, 66, 72, 78));
    EXPECT_THAT(sum_to(x, {}).to_vector<float>(), ElementsAre(276));
    const Caught wrong = error_of([&] { return sum_to(x, {2, 4}); });
    EXPECT_EQ(wrong.kind, ErrorKind::shape);
}

TEST(Amax, SharesTheGradientOfTies)
{
    Tensor x = from_vector(Floats{1, 3, 3, 2, 5, 5, 5, 0}, {2, 4}).requires_grad_();
    amax(x, {1}).backward(from_vector(Floats{6, 9}));
    EXPECT_THAT(x.grad().to_vector<float>(), ElementsAre(0, 3, 3, 0, 3, 3, 3, 0));
}

TEST(Amax, TakesNanAndInfinities)
{
    EXPECT_THAT(amax(from_vector(Floats{1, nan, 3})).to_vector<float>(), Each(IsNan()));
    EXPECT_EQ(amax(from_vector(Floats{-inf, -inf, -inf})).item<float>(), -inf);
    Floats many(1000, -5);
    many[777] = nan;
    EXPECT_THAT(amax(from_vector(many)).to_vector<float>(), Each(IsNan()));
    EXPECT_EQ(amax(arange(1000) * arange(1000)).item<std::int32_t>(), 999 * 999);
    const Caught nothing = error_of([] { return amax(zeros({3, 0}), {1}); });
    EXPECT_EQ(nothing.kind, ErrorKind::shape);
    EXPECT_THAT(nothing.text, HasSubstr("[amax] The shape ([3, 0]) has no element"));
}

TEST(Argmax, TakesTheFirstOfEqual)
{
    const Tensor x = from_vector(Floats{1, 7, 7, 2, 5, 5, 5, 0, -inf, -inf, -inf, -inf}, {3, 4});
    EXPECT_THAT(argmax(x, 1).to_vector<std::int32_t>(), ElementsAre(1, 0, 0));
    EXPECT_THAT(argmax(x, 0).to_vector<std::int32_t>(), ElementsAre(1, 0, 0, 0));
    EXPECT_EQ(sizes_of(argmax(x, -1, true)), (Sizes{3, 1}));
    EXPECT_EQ(argmax(x, 1).dtype(), i32);
}

TEST(Argmax, PutsTheFirstNanBeforeAll)
{
    EXPECT_THAT(argmax(from_vector(Floats{1, nan, inf, nan}), 0).to_vector<std::int32_t>(), ElementsAre(1));
    Floats many(3000, 1);
    many[2500] = nan;
    many[2900] = nan;
    EXPECT_EQ(argmax(from_vector(many), 0).item<std::int32_t>(), 2500);
}

TEST(Argmax, GoesThroughLongRows)
{
    for (const std::int64_t n : {255, 256, 257, 1000, 100003}) {
        const Floats x = numbers(n, 5);
        const auto want = std::max_element(x.begin(), x.end()) - x.begin();
        EXPECT_EQ(argmax(from_vector(x), 0).item<std::int32_t>(), want) << n;
    }
    const Tensor x = drawn({1000, 3}, 9);
    const Floats columns = x.t().to_vector<float>();
    std::vector<std::int32_t> want;
    for (std::ptrdiff_t c = 0; c < 3; ++c) {
        const auto first = columns.begin() + 1000 * c;
        want.push_back(static_cast<std::int32_t>(std::max_element(first, first + 1000) - first));
    }
    EXPECT_EQ(argmax(x, 0).to_vector<std::int32_t>(), want);
    EXPECT_EQ(argmax(x.t(), 1).to_vector<std::int32_t>(), want);
    EXPECT_EQ(error_of([] { return argmax(zeros({0, 2}), 0); }).kind, ErrorKind::shape);
}

TEST(Max, GivesValuesAndIndicesWithTheGradientThere)
{
    Tensor x = from_vector(Floats{1, 7, 7, 2, 5, 5}, {2, 3}).requires_grad_();
    const auto [values, indices] = max(x, 1);
    EXPECT_THAT(values.to_vector<float>(), ElementsAre(7, 5));
    EXPECT_THAT(indices.to_vector<std::int32_t>(), ElementsAre(1, 1));
    values.backward(from_vector(Floats{2, 3}));
    EXPECT_THAT(x.grad().to_vector<float>(), ElementsAre(0, 2, 0, 0, 3, 0));

    const auto [columns, rows] = max(drawn({4, 5, 6}), 1, true);
    EXPECT_EQ(sizes_of(columns), (Sizes{4, 1, 6}));
    EXPECT_EQ(sizes_of(rows), (Sizes{4, 1, 6}));
    EXPECT_EQ(columns.to_vector<float>(), amax(drawn({4, 5, 6}), {1}).to_vector<float>());
    const auto check = gradient_check([](const auto& in) { return max(in[0], 1).first; }, {{4, 5, 6}});
    EXPECT_TRUE(check.passed) << check.message;
}

TEST(Max, OfAllGivesTheGradientToNaN)
{
    Variable x(from_vector(Floats{1, nan, 3, nan}));
    max(x).backward();
    EXPECT_THAT(x.grad().to_vector<float>(), ElementsAre(0, 0.5, 0, 0.5));
    x.zero_grad();
    min(x).backward();
    EXPECT_THAT(x.grad().to_vector<float>(), ElementsAre(0, 0.5, 0, 0.5));
    x.zero_grad();
    amax(x).backward(); // also in PyTorch
    EXPECT_THAT(x.grad().to_vector<float>(), Each(IsNan()));
}

void expect_relative(const Tensor& found, const Floats& want)
{
    const Floats values = found.to_vector<float>();
    ASSERT_EQ(values.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_NEAR(values[i], want[i], 1e-6f * std::abs(want[i])) << i;
}

// Elsewhere products of the other elements overflow.
TEST(Prod, HasTheGradientsOfQuotients)
{
    const Variable x(from_vector(Floats{1e-30f, 1e30f, 1e30f}));
    prod(x).backward(full({}, 1e-30));
    expect_relative(x.grad(), {1e30f, 1e-30f, 1e-30f});
    const Variable z(from_vector(Floats{1e-30f, 1, 1e30f, 1e30f}));
    cumprod(z, 0).backward(from_vector(Floats{0, 0, 0, 1}));
    const Floats dz = z.grad().to_vector<float>();
    expect_relative(from_vector(Floats(dz.begin() + 1, dz.end())), {1e30f, 1, 1});
}

TEST(Prod, KeepsGradientsOfLinesWithZeros)
{
    Variable x(from_vector(Floats{2, 0, 4, 5, 3, 7, 0, 0, 9}, {3, 3}));
    prod(x, {1}).backward(from_vector(Floats{1, 2, 3}));
    expect_relative(x.grad(), {0, 8, 0, 42, 70, 30, 0, 0, 0});
    x.zero_grad();
    cumprod(x, 1).backward(ones({3, 3}));
    expect_relative(x.grad(), {1, 10, 0, 25, 40, 15, 1, 0, 0});
}

TEST(Max, OfIntegers)
{
    const auto [values, indices] = max(arange(6).reshape({2, 3}), 0);
    EXPECT_THAT(values.to_vector<std::int32_t>(), ElementsAre(3, 4, 5));
    EXPECT_EQ(max(arange(6)).item<std::int32_t>(), 5);
}

// One recording at sizes on both sides of every threshold: the bits of eager code.
TEST(Reduce, RecordedEqualsEager)
{
    const Dim n = symbol("n");
    const Program program = record(
        [](Tensor x) {
            return std::vector<Tensor>{sum(x),       sum(x, {0}),  sum(x, {1}),
                                       mean(x, {0}), amax(x, {0}), amax(x, {1})};
        },
        {spec({n, 8})});
    for (const std::int64_t size : {1, 2, 31, 32, 33, 256, 257, 5000, 1, 70000}) {
        const Tensor x = drawn({size, 8}, 3);
        const std::vector<Tensor> found = program.call({x});
        const std::vector<Tensor> want{sum(x),       sum(x, {0}),  sum(x, {1}),
                                       mean(x, {0}), amax(x, {0}), amax(x, {1})};
        for (std::size_t i = 0; i < want.size(); ++i)
            EXPECT_EQ(found[i].to_vector<float>(), want[i].to_vector<float>()) << size << ", result " << i;
    }
    EXPECT_EQ(error_of([&] { return program.call({zeros({0, 8})}); }).kind, ErrorKind::shape); // of amax
    const Program sums = record(
        [](Tensor x) {
            return std::vector<Tensor>{sum(x), sum(x, {0}), sum(x, {1})};
        },
        {spec({n, 8})});
    const std::vector<Tensor> nothing = sums.call({zeros({0, 8})});
    EXPECT_EQ(nothing[0].item<float>(), 0);
    EXPECT_THAT(nothing[1].to_vector<float>(), Each(0));
    EXPECT_THAT(nothing[2].to_vector<float>(), IsEmpty());
}

} // namespace
