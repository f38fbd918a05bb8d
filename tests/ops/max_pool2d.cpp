// Max pooling, the places it keeps and its gradients against plain loops over windows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::ElementsAre;
using testing::HasSubstr;
using Floats = std::vector<float>;

constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                infinity = std::numeric_limits<float>::infinity();

struct Case {
    std::array<std::int64_t, 4> x;
    MaxPoolOptions<2> options;
};

// Windows of 2 x 2 on rows of a multiple of 4, of 2 and of odd length, an odd height, windows that overlap, that leave
// gaps, that reach into the padding, of one element.
const std::vector<Case> cases{
    {{2, 3, 8, 8}, {}},
    {{3, 5, 28, 28}, {}},
    {{3, 5, 14, 14}, {}},
    {{1, 3, 6, 10}, {}},
    {{2, 3, 7, 12}, {}},
    {{2, 3, 5, 6}, {}},
    {{2, 2, 6, 7}, {}},
    {{1, 1, 2, 2}, {}},
    {{2, 3, 9, 9}, {.kernel_size = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}},
    {{2, 2, 7, 6}, {.kernel_size = {3, 2}, .stride = {1, 1}}},
    {{2, 2, 10, 11}, {.kernel_size = {2, 2}, .stride = {3, 4}}},
    {{2, 2, 6, 6}, {.kernel_size = {4, 5}, .stride = {2, 1}, .padding = {2, 2}}},
    {{2, 3, 4, 4}, {.kernel_size = {1, 1}}},
    {{1, 2, 5, 5}, {.kernel_size = {5, 5}}},
};

std::int64_t count(const std::array<std::int64_t, 4>& s) { return s[0] * s[1] * s[2] * s[3]; }
Shape shape_of(const std::array<std::int64_t, 4>& sizes) { return {sizes.begin(), sizes.end()}; }

// Few different values, so that ties are common.
Floats numbers(std::int64_t count, std::uint32_t seed, int values = 9)
{
    Floats v(static_cast<std::size_t>(count));
    for (float& f : v) {
        seed = seed * 1664525u + 1013904223u;
        f = static_cast<float>(static_cast<int>(seed >> 8) % values - values / 2);
    }
    return v;
}

struct Expected {
    std::array<std::int64_t, 4> shape;
    Floats y, dx; // dx for a gradient of 1, 2, 3, ... of y
};

Expected expected(const Case& c, const Floats& x)
{
    const auto stride = [&](std::size_t i) {
        return c.options.stride[i] ? c.options.stride[i] : c.options.kernel_size[i];
    };
    const auto size = [&](std::size_t i) {
        return (c.x[2 + i] + 2 * c.options.padding[i] - c.options.kernel_size[i]) / stride(i) + 1;
    };
    Expected e{{c.x[0], c.x[1], size(0), size(1)}, {}, Floats(x.size())};
    for (std::int64_t plane = 0; plane < c.x[0] * c.x[1]; ++plane)
        for (std::int64_t oy = 0; oy < e.shape[2]; ++oy)
            for (std::int64_t ox = 0; ox < e.shape[3]; ++ox) {
                std::size_t place = x.size();
                for (std::int64_t ky = 0; ky < c.options.kernel_size[0]; ++ky)
                    for (std::int64_t kx = 0; kx < c.options.kernel_size[1]; ++kx) {
                        const auto iy = oy * stride(0) - c.options.padding[0] + ky;
                        const auto ix = ox * stride(1) - c.options.padding[1] + kx;
                        if (iy < 0 || ix < 0 || iy >= c.x[2] || ix >= c.x[3]) continue;
                        const auto i = static_cast<std::size_t>((plane * c.x[2] + iy) * c.x[3] + ix);
                        if (place == x.size() || x[i] > x[place] || std::isnan(x[i])) place = i;
                    }
                e.y.push_back(x[place]);
                e.dx[place] += static_cast<float>(e.y.size());
            }
    return e;
}

Floats counting(std::size_t n)
{
    Floats v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<float>(i + 1);
    return v;
}

// NaNs compare equal to each other.
void expect_same(const Tensor& t, const Floats& want)
{
    const Floats got = t.to_vector<float>();
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_TRUE(got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])))
            << "at " << i << ": " << got[i] << " instead of " << want[i];
}

void expect_case(const Case& c, const Floats& x)
{
    SCOPED_TRACE(to_string(shape_of(c.x)));
    const Expected e = expected(c, x);
    const Variable v(from_vector(x, shape_of(c.x)));
    const Tensor y = max_pool2d(v, c.options);
    EXPECT_EQ(y.shape(), shape_of(e.shape));
    expect_same(y, e.y);
    y.backward(from_vector(counting(e.y.size()), shape_of(e.shape)));
    expect_same(v.grad(), e.dx);
}

TEST(MaxPool2d, TakesTheGreatestAndSendsItsGradientThere)
{
    for (const Case& c : cases) expect_case(c, numbers(count(c.x), 1));
}

TEST(MaxPool2d, NaNsWinAndInfinitiesAreNumbers)
{
    for (const Case& c : cases) {
        Floats x = numbers(count(c.x), 2);
        for (float& f : x) f = f == 3 ? nan : f == -3 ? -infinity : f;
        expect_case(c, x);
    }
    expect_case({{1, 1, 4, 4}, {}}, Floats(16, -infinity));
    expect_case({{1, 1, 3, 3}, {.kernel_size = {3, 3}, .stride = {1, 1}, .padding = {1, 1}}},
                Floats(9, -infinity));
}

TEST(MaxPool2d, OfEqualElementsTheFirstCounts)
{
    const Variable x(zeros({1, 1, 2, 4}));
    max_pool2d(x, 2).backward(ones({1, 1, 1, 2}));
    EXPECT_THAT(x.grad().to_vector<float>(), ElementsAre(1, 0, 1, 0, 0, 0, 0, 0));
}

std::vector<Tensor> distinct(const Case& c)
{
    Floats x(static_cast<std::size_t>(count(c.x)));
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i * 37 % x.size()) / static_cast<float>(x.size()) + 0.1f;
    return {from_vector(x, shape_of(c.x), {.device = Device("reference")})};
}

TEST(MaxPool2d, GradientsAreThoseOfDifferences)
{
    for (const Case& c : cases) {
        if (count(c.x) > 600) continue;
        const auto pool = [&](const std::vector<Tensor>& in) { return max_pool2d(in[0], c.options); };
        const GradCheck check = gradcheck(pool, distinct(c));
        EXPECT_TRUE(check.passed) << check.message;
    }
}

Tensor with_gradient(const Tensor& t) { return t.requires_grad() ? t : t.detach().requires_grad_(); }

TEST(MaxPool2d, SecondAndThirdGradientsAreThoseOfDifferences)
{
    for (const Case& c : cases) {
        if (count(c.x) > 300) continue;
        const auto gradient = [&](const std::vector<Tensor>& in) {
            const Tensor x = with_gradient(in[0]), y = max_pool2d(x, c.options);
            return grad(y, x, {.create_graph = true, .cotangents = {y * y * y}});
        };
        GradCheck check = gradcheck(gradient, distinct(c), {.tolerance = 1e-5});
        EXPECT_TRUE(check.passed) << check.message;
        const auto second = [&](const std::vector<Tensor>& in) {
            const Tensor x = with_gradient(in[0]);
            return grad(gradient({x}), x, {.create_graph = true, .cotangents = {x}});
        };
        check = gradcheck(second, distinct(c), {.tolerance = 1e-5});
        EXPECT_TRUE(check.passed) << check.message;
    }
}

// Of the devices' kernels: the gradient's gradient takes where the greatest are.
TEST(MaxPool2d, SecondGradientEqualsTheReference)
{
    for (const Case& c : cases) {
        const Floats x = numbers(count(c.x), 3, 33);
        const auto second = [&](const Device& device) {
            const Variable v(from_vector(x, shape_of(c.x), {.device = device}));
            const Tensor y = max_pool2d(v, c.options);
            const Tensor g = grad(y, v, {.create_graph = true, .cotangents = {y * y}});
            return grad(g, v, {.cotangents = {g}}).to_vector<float>();
        };
        EXPECT_EQ(second(default_device()), second(Device("reference")));
    }
}

TEST(MaxPool2d, TakesViewsOfAnyStrides)
{
    const Tensor x = from_vector(numbers(2 * 8 * 6 * 4, 4), {2, 8, 6, 4});
    for (const Tensor& v :
         {permute(x, {0, 3, 1, 2}), x.narrow(1, 1, 5), x.narrow(3, 1, 2), transpose(x, 2, 3)})
        EXPECT_EQ(max_pool2d(v, 2).to_vector<float>(), max_pool2d(v.contiguous(), 2).to_vector<float>());
}

TEST(MaxPool2d, AnEmptyBatchGivesNothing)
{
    const Variable x(zeros({0, 3, 8, 8}));
    const Tensor y = max_pool2d(x, 2);
    EXPECT_EQ(y.shape(), (Shape{0, 3, 4, 4}));
    y.backward(zeros({0, 3, 4, 4}));
    EXPECT_TRUE(x.grad().to_vector<float>().empty());
}

TEST(MaxPool2d, RecordedForAnySizeEqualsEager)
{
    const Dim batch = symbol("batch"), height = symbol("height"), width = symbol("width");
    const auto step = [](Tensor x) {
        x.requires_grad_();
        const Tensor y = max_pool2d(x, 2);
        return std::vector<Tensor>{y, grad(y, x, {.cotangents = {y}})};
    };
    const Program program = record(step, {spec({batch, 2, height, width})});
    for (const Shape& s : {Shape{2, 2, 8, 8}, {1, 2, 5, 6}, {3, 2, 7, 7}, {0, 2, 4, 4}}) {
        const Tensor x = from_vector(numbers(s[0].value() * 2 * s[2].value() * s[3].value(), 5), s);
        const auto got = program.call({x}), want = step(x.detach());
        for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(got[i].to_vector<float>(), want[i].to_vector<float>());
    }
}

TEST(MaxPool2d, RefusesWhatDoesNotFit)
{
    const Tensor x = zeros({2, 3, 8, 8});
    const auto error = [](const Tensor& t, const MaxPoolOptions<2>& o) {
        return error_of([&] { return max_pool2d(t, o); });
    };
    Caught e = error(zeros({8, 8}), {});
    EXPECT_EQ(e.kind, ErrorKind::shape);
    EXPECT_THAT(e.text, HasSubstr("[max_pool2d] The input's shape ([8, 8]) must be [batch, channels, height, "
                                  "width] or [channels, height, width]."));
    e = error(x, {.kernel_size = {9, 2}});
    EXPECT_EQ(e.kind, ErrorKind::shape);
    EXPECT_THAT(e.text, HasSubstr("[max_pool2d] A window of kernel size (9)"));
    e = error(x, {.kernel_size = {3, 3}, .padding = {1, 2}});
    EXPECT_EQ(e.kind, ErrorKind::argument);
    EXPECT_THAT(e.text, HasSubstr("The padding (2) must be at most half of the kernel size (3)"));
    e = error(x, {.kernel_size = {2, 2}, .stride = {-1, 1}});
    EXPECT_EQ(e.kind, ErrorKind::argument);
    EXPECT_THAT(e.text, HasSubstr("stride (-1)"));
    e = error(x, {.kernel_size = {2, 2}, .padding = {0, -1}});
    EXPECT_EQ(e.kind, ErrorKind::argument);
    EXPECT_THAT(e.text, HasSubstr("padding (-1)"));
    e = error(x, {.kernel_size = {0, 2}, .stride = {1, 1}});
    EXPECT_EQ(e.kind, ErrorKind::argument);
    EXPECT_THAT(e.text, HasSubstr("kernel size (0)"));
    e = error(zeros({2, 3, 0, 8}), {.padding = {1, 1}});
    EXPECT_EQ(e.kind, ErrorKind::shape);
    EXPECT_THAT(e.text, HasSubstr("no elements in an image"));
    e = error(zeros({2, 3, 8, 8}, {.dtype = i32}), {});
    EXPECT_EQ(e.kind, ErrorKind::dtype);
}

} // namespace
