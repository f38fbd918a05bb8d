// Orders of elements, products with zeros and edges of other ops against PyTorch's values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <numeric>

#include "ops/index_checks.hpp"
#include "ops/reduce_tools.hpp"
#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace {

using namespace reprise;
using namespace reduce_tools;
using reprise::test::floats;
using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsNan;
using Whole = std::vector<std::int32_t>;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

Whole whole(const Tensor& t) { return t.to_vector<std::int32_t>(); }

// As in PyTorch: an infinity stays until one of the other sign meets it, also across the blocks that are added apart.
TEST(Cumsum, CarriesInfinities)
{
    constexpr std::int64_t count = 1000;
    for (const float first : {inf, -inf, nan})
        for (const std::size_t at : {std::size_t{0}, std::size_t{255}, std::size_t{256}, std::size_t{700}}) {
            Floats v(count, 1.0f);
            v[at] = first;
            v[900] = -inf;
            const Floats y = cumsum(from_vector(v), 0).to_vector<float>();
            for (std::size_t i = 0; i < v.size(); ++i) {
                if (i < at) EXPECT_EQ(y[i], static_cast<float>(i + 1));
                else if (i < 900 && !std::isnan(first)) EXPECT_EQ(y[i], first) << i;
                else if (first == -inf) EXPECT_EQ(y[i], -inf) << i;
                else EXPECT_TRUE(std::isnan(y[i])) << i;
            }
        }
}

TEST(Sort, PutsNanLastAndKeepsTheOrderOfEqualElements)
{
    const Tensor x = from_vector(Floats{0.0f, -0.0f, nan, 1, -inf, nan, 1});
    const auto [up, up_at] = sort(x);
    EXPECT_THAT(whole(up_at), ElementsAre(4, 0, 1, 3, 6, 2, 5));
    EXPECT_THAT(floats(up), ElementsAre(-inf, 0, 0, 1, 1, IsNan(), IsNan()));
    EXPECT_TRUE(std::signbit(floats(up)[2]));
    const auto [down, down_at] = sort(x, 0, true);
    EXPECT_THAT(whole(down_at), ElementsAre(2, 5, 3, 6, 0, 1, 4));
    EXPECT_THAT(floats(down), ElementsAre(IsNan(), IsNan(), 1, 1, 0, 0, -inf));
    EXPECT_EQ(up_at.dtype(), i32);
}

TEST(Sort, OrdersSubnormals)
{
    constexpr float tiny = std::numeric_limits<float>::denorm_min();
    EXPECT_THAT(whole(argsort(from_vector(Floats{2 * tiny, 0, tiny, -tiny}))), ElementsAre(3, 1, 2, 0));
}

// On both sides of each threshold of the kernels, among numbers of which many are equal.
TEST(Sort, IsAStableOrderAtAnyLength)
{
    for (const std::int64_t n : {1, 63, 64, 65, 255, 256, 257, 1024, 1025, 5000, 70000}) {
        const Tensor x = floor(drawn({n}, 3) * 50.0);
        const Floats v = floats(x);
        Whole want(v.size());
        std::iota(want.begin(), want.end(), 0);
        const auto at = [&](std::int32_t i) { return v[static_cast<std::size_t>(i)]; };
        std::stable_sort(want.begin(), want.end(), [&](auto a, auto b) { return at(a) < at(b); });
        EXPECT_EQ(whole(argsort(x)), want) << n;
        std::stable_sort(want.begin(), want.end(), [&](auto a, auto b) { return a < b; });
        std::stable_sort(want.begin(), want.end(), [&](auto a, auto b) { return at(a) > at(b); });
        EXPECT_EQ(whole(argsort(x, 0, true)), want) << n;
        want.resize(static_cast<std::size_t>(std::min<std::int64_t>(n, 70)));
        EXPECT_EQ(whole(topk(x, static_cast<long long>(want.size())).second), want) << n;
    }
}

// One recording at sizes on both sides of every threshold.
TEST(Sort, RecordedEqualsEager)
{
    const Dim n = symbol("n");
    const Program program = record(
        [](Tensor x) {
            const auto [values, indices] = sort(x, 0);
            const auto [most, at] = topk(x, 2, {.dim = 0});
            return std::vector<Tensor>{values, indices, most, at, median(x, 0).first};
        },
        {spec({n, 3})});
    for (const std::int64_t size : {2, 64, 256, 257, 1030, 3, 5000}) {
        const Tensor x = drawn({size, 3}, 5);
        const std::vector<Tensor> found = program.call({x});
        EXPECT_EQ(floats(found[0]), floats(sort(x, 0).first)) << size;
        EXPECT_EQ(whole(found[1]), whole(argsort(x, 0))) << size;
        EXPECT_EQ(floats(found[2]), floats(topk(x, 2, {.dim = 0}).first)) << size;
        EXPECT_EQ(whole(found[3]), whole(topk(x, 2, {.dim = 0}).second)) << size;
        EXPECT_EQ(floats(found[4]), floats(median(x, 0).first)) << size;
    }
    EXPECT_EQ(error_of([&] { return program.call({zeros({1, 3})}); }).kind, ErrorKind::shape); // of topk
}

TEST(Sort, GivesGradientsBackToTheirPlaces)
{
    Tensor x = from_vector(Floats{3, 1, 2, 9, 8, 7}, {2, 3}).requires_grad_();
    sort(x, 1, true).first.backward(from_vector(Floats{1, 2, 3, 4, 5, 6}, {2, 3}));
    EXPECT_THAT(floats(x.grad()), ElementsAre(1, 3, 2, 4, 5, 6));
    x.zero_grad();
    topk(x, 1, {.dim = 0, .largest = false}).first.backward(from_vector(Floats{1, 2, 3}, {1, 3}));
    EXPECT_THAT(floats(x.grad()), ElementsAre(1, 2, 3, 0, 0, 0));
}

TEST(Median, IsTheLowerOneAndTakesNan)
{
    const auto [values, indices] = median(from_vector(Floats{3, 1, 2, 4, nan, 1, nan, 2}, {2, 4}), 1);
    EXPECT_THAT(floats(values), ElementsAre(2, IsNan()));
    EXPECT_THAT(whole(indices), ElementsAre(2, 0));
    EXPECT_THAT(floats(median(zeros({0}))), ElementsAre(IsNan()));
    EXPECT_EQ(median(from_vector(Whole{5, 1, 4, 2}, {4})).item<std::int32_t>(), 2);
    EXPECT_THAT(floats(kthvalue(from_vector(Floats{nan, 2, 1}), 3).first), ElementsAre(IsNan()));
}

TEST(Argmax, OfIntegers)
{
    const Tensor x = from_vector(Whole{4, 9, 9, -2147483647 - 1, 2147483647, 0}, {2, 3});
    EXPECT_THAT(whole(argmax(x, 1)), ElementsAre(1, 1));
    EXPECT_THAT(whole(argmin(x, 1)), ElementsAre(0, 0));
    EXPECT_THAT(whole(argmin(x, 0, true)), ElementsAre(1, 0, 1));
    EXPECT_THAT(whole(max(x, 1).first), ElementsAre(9, 2147483647));
    EXPECT_THAT(error_of([&] { return argmin(zeros({2, 0}), 1); }).text, HasSubstr("[argmin]"));
    EXPECT_THAT(error_of([&] { return min(x, 3); }).text, HasSubstr("[min]"));
}

// f and the gradient by x of the weighted sum of its gradient.
std::pair<Floats, Floats> first_and_second(const std::function<Tensor(const Tensor&)>& f, const Floats& v)
{
    Tensor x = from_vector(v).requires_grad_();
    const Tensor g = grad(f(x), x, {.create_graph = true, .cotangents = {}});
    const Tensor w = from_vector(Floats{1, -2, 3, 0.5f});
    return {floats(g), floats(grad(sum(g * w), x))};
}

TEST(Prod, HasPyTorchsGradientsWhereElementsAreZero)
{
    const auto f = [](const Tensor& x) { return prod(x); };
    const auto one = first_and_second(f, {2, 0, 3, 5});
    EXPECT_THAT(one.first, ElementsAre(0, 30, 0, 0));
    EXPECT_THAT(one.second, ElementsAre(-30, 48, -20, -12));
    const auto two = first_and_second(f, {2, 0, 3, 0});
    EXPECT_THAT(two.first, Each(0));
    EXPECT_THAT(two.second, ElementsAre(0, 3, 0, -12));
    EXPECT_THAT(first_and_second(f, {0, 0, 0, 4}).second, Each(0));
    EXPECT_THAT(first_and_second(f, {2, 3, 4, 5}).second, ElementsAre(11, 54, -2, 14));
}

TEST(Cumprod, HasPyTorchsGradientsWhereElementsAreZero)
{
    const auto f = [](const Tensor& x) { return sum(cumprod(x, 0) * from_vector(Floats{1, 2, 3, 4})); };
    const auto one = first_and_second(f, {2, 0, 3, 5});
    EXPECT_THAT(one.first, ElementsAre(1, 142, 0, 0));
    EXPECT_THAT(one.second, ElementsAre(-142, 221, -92, -48));
    const auto two = first_and_second(f, {2, 0, 3, 0});
    EXPECT_THAT(two.first, ElementsAre(1, 22, 0, 0));
    EXPECT_THAT(two.second, ElementsAre(-22, 41, -12, -48));
    const auto three = first_and_second(f, {0, 0, 0, 4});
    EXPECT_THAT(three.first, ElementsAre(1, 0, 0, 0));
    EXPECT_THAT(three.second, ElementsAre(-4, 2, 0, 0));
    EXPECT_THAT(first_and_second(f, {2, 3, 4, 5}).second, ElementsAre(43, 248, -11, 56));
}

TEST(Einsum, TakesEllipses)
{
    const auto shape = [](const std::string& e, std::vector<Tensor> in) { return sizes_of(einsum(e, in)); };
    EXPECT_EQ(shape("...ij,...jk->...ik", {ones({3, 1, 2, 2}), ones({4, 2, 2})}), (Sizes{3, 4, 2, 2}));
    EXPECT_EQ(shape("i...", {ones({3, 2})}), (Sizes{2, 3}));
    EXPECT_EQ(shape("...ij->...ji", {ones({2, 3, 4})}), (Sizes{2, 4, 3}));
    EXPECT_EQ(shape("...,...", {ones({2, 3}), ones({3})}), (Sizes{2, 3}));
    EXPECT_EQ(shape("b...a,a->...b", {ones({2, 5, 3}), ones({3})}), (Sizes{5, 2}));
    EXPECT_EQ(shape("aB", {ones({2, 3})}), (Sizes{3, 2}));
    EXPECT_THAT(floats(einsum("...i->i", {ones({3, 2})})), ElementsAre(3, 3));
    EXPECT_THAT(floats(einsum("...ii->...", {ones({2, 3, 3})})), ElementsAre(3, 3));
    EXPECT_THAT(floats(einsum("ij,j->i", {ones({2, 3}), ones({1})})), ElementsAre(3, 3));
    EXPECT_THAT(floats(einsum("i,...->i", {ones({2}), ones({3})})), ElementsAre(3, 3));
    EXPECT_THAT(floats(einsum("ij,j", {ones({2, 3}), ones({3})})), ElementsAre(3, 3));
    EXPECT_THAT(error_of([] { return einsum("..a->a", {ones({2})}); }).text, HasSubstr("has (.)"));
    EXPECT_THAT(error_of([] { return einsum("ii->ii", {ones({2, 2})}); }).text, HasSubstr("twice"));
    EXPECT_EQ(error_of([] { return einsum("...ijk->i", {ones({2, 2})}); }).kind, ErrorKind::shape);
    const auto check = gradient_check(
        [](const auto& in) {
            return einsum("...ij,...j->...i", {in[0], in[1]});
        },
        {{2, 1, 3, 4}, {5, 4}});
    EXPECT_TRUE(check.passed) << check.message;
}

TEST(Logsumexp, OfNothingIsMinusInfinity)
{
    EXPECT_THAT(floats(logsumexp(zeros({2, 0}), {1})), ElementsAre(-inf, -inf));
    EXPECT_EQ(logsumexp(zeros({0})).item<float>(), -inf);
    EXPECT_TRUE(floats(amax(zeros({0, 2}), {1})).empty());
    EXPECT_EQ(error_of([] { return amin(zeros({2, 0}), {1}); }).kind, ErrorKind::shape);
}

TEST(Subtraction, RefusesBool)
{
    const Tensor b = zeros({2}, {.dtype = boolean}), x = ones({2});
    EXPECT_THAT(error_of([&] { return b - b; }).text, HasSubstr("[sub]"));
    EXPECT_EQ(error_of([&] { return b - 1.0; }).kind, ErrorKind::dtype);
    EXPECT_EQ(error_of([&] { return 1.0 - b; }).kind, ErrorKind::dtype);
    EXPECT_EQ(error_of([&] { return x - b; }).kind, ErrorKind::dtype);
    EXPECT_EQ(error_of([&] { return -b; }).kind, ErrorKind::dtype);
    EXPECT_THAT(floats(x + b), ElementsAre(1, 1));
}

TEST(Errors, NameWhatTheUserCalled)
{
    const auto says = [](const char* op, const auto& call) {
        EXPECT_THAT(error_of(call).text, HasSubstr(op));
    };
    says("[zeros]", [] { return zeros({-1}); });
    says("[ones]", [] { return ones({2, -1}); });
    says("[full_like]", [] { return full_like(zeros({2}, {.dtype = u8}), 300); });
    says("[rand]", [] { return rand({2}, {.dtype = i32}); });
    says("[rand]", [] { return rand({-2}); });
    says("[randn]", [] { return randn({2}, {.dtype = i32}); });
    says("[randn_like]", [] { return randn_like(arange(2)); });
    says("[pad]", [] { return pad(zeros({2}, {.dtype = u8}), {1, 0}, 300); });
    says("[pad]", [] { return pad(zeros({2}, {.dtype = i32}), {1, 0}, 1e10); });
    says("[masked_fill]",
         [] { return masked_fill(zeros({2}, {.dtype = u8}), zeros({2}, {.dtype = boolean}), 300); });
    says("[scatter]", [] { return scatter(zeros({2}, {.dtype = u8}), 0, zeros({1}, {.dtype = i32}), 300); });
    says("[linear]", [] { return linear(ones({2, 3}), ones({4, 2})); });
    says("[linear]", [] { return linear(ones({2, 3}), ones({4, 3}), ones({5})); });
    says("[linear]", [] { return linear(arange(3), ones({4, 3})); });
    says("[all]", [] { return all(ones({2}), {1}); });
    says("[std]", [] { return reprise::std(arange(2)); });
    says("[norm]", [] { return norm(ones({2}), 2, {1}); });
    says("(i64)", [] { return full({1}, 0x1p63, {.dtype = i64, .device = Device("reference")}); });
}

TEST(ScatterAdd, OfIntegersWraps)
{
    const IndexChecks off(false);
    const Tensor x = from_vector(Whole{2147483647, 0, 5}, {3});
    const Tensor index = from_vector(Whole{0, 2, 2, 7}, {4});
    EXPECT_THAT(whole(scatter_add(x, 0, index, from_vector(Whole{1, 10, 20, 40}, {4}))),
                ElementsAre(-2147483647 - 1, 0, 35));
    EXPECT_THAT(whole(index_add(x, 0, index, from_vector(Whole{1, 10, 20, 40}, {4}))),
                ElementsAre(-2147483647 - 1, 0, 35));
}

} // namespace
