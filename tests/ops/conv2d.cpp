// Convolution and its gradients against plain loops over windows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::Each;
using testing::HasSubstr;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;

struct Case {
    std::array<std::int64_t, 4> x, weight;
    ConvOptions<2> options;
    bool bias = true;
};

std::ostream& operator<<(std::ostream& out, const Case& c)
{
    const auto list = [&](const auto& values) {
        out << "[";
        for (const auto v : values) out << " " << v;
        out << " ]";
    };
    list(c.x);
    list(c.weight);
    list(c.options.stride);
    list(c.options.padding);
    return out;
}

// Every shape of the kernels: rows as long as the image's with images of a multiple of 4 (texels), odd sizes, strides,
// no padding, one element, sizes of 1, more than one workgroup, K beyond one block of the product of matrices.
const std::vector<Case> cases{
    {{2, 3, 8, 8}, {4, 3, 3, 3}, {.padding = {1, 1}}},
    {{3, 2, 14, 14}, {5, 2, 3, 3}, {.padding = {1, 1}}},
    {{2, 3, 4, 6}, {6, 3, 5, 5}, {.padding = {2, 2}}},
    {{2, 4, 10, 4}, {3, 4, 3, 1}, {.padding = {0, 0}}},
    {{2, 3, 8, 5}, {2, 3, 1, 3}, {.padding = {0, 1}}},
    {{3, 3, 7, 7}, {4, 3, 3, 3}, {.padding = {1, 1}}},
    {{2, 3, 9, 11}, {5, 3, 3, 3}, {}},
    {{2, 2, 11, 8}, {3, 2, 3, 5}, {.stride = {2, 1}, .padding = {1, 2}}},
    {{1, 3, 12, 12}, {8, 3, 4, 4}, {.stride = {4, 4}}},
    {{2, 1, 10, 10}, {2, 1, 2, 3}, {.stride = {3, 5}, .padding = {1, 0}}},
    {{4, 8, 6, 6}, {8, 8, 1, 1}, {}},
    {{1, 1, 1, 1}, {1, 1, 1, 1}, {}, false},
    {{2, 3, 1, 7}, {2, 3, 1, 3}, {.padding = {0, 1}}, false},
    {{2, 3, 2, 2}, {2, 3, 5, 5}, {.padding = {3, 3}}},
    {{5, 64, 12, 12}, {33, 64, 3, 3}, {.padding = {1, 1}}},
    {{9, 1, 28, 28}, {32, 1, 3, 3}, {.padding = {1, 1}}},
    {{2, 4, 3, 8}, {3, 4, 3, 3}, {.padding = {1, 1}}}, // windows read where they lie, from here on
    {{2, 5, 6, 40}, {9, 5, 3, 3}, {.padding = {1, 1}}},
    {{1, 70, 3, 4}, {2, 70, 3, 3}, {.padding = {1, 1}}, false},
    {{40, 2, 4, 4}, {17, 2, 3, 3}, {.padding = {1, 1}}},
    {{2, 3, 8, 16}, {5, 3, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}}},
    {{2, 4, 7, 48}, {10, 4, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}}},
    {{3, 9, 1, 8}, {4, 9, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}}},
    {{2, 3, 4, 5}, {2, 3, 3, 3}, {.padding = {1, 1}}},
    {{2, 4, 8, 7}, {9, 4, 3, 3}, {.padding = {1, 1}}},
    {{1, 2, 2, 70}, {3, 2, 3, 3}, {.padding = {1, 1}}},
    {{2, 9, 2, 2}, {3, 9, 1, 1}, {}},
    {{2, 5, 6, 8}, {3, 5, 1, 1}, {.stride = {2, 2}}},
    {{3, 8, 7, 16}, {10, 8, 1, 1}, {.stride = {2, 2}}},
    // the most taps that tiles of GPUs take, and one more
    {{2, 2, 13, 9}, {3, 2, 18, 12}, {.padding = {9, 6}}},
    {{2, 2, 13, 9}, {3, 2, 19, 12}, {.padding = {9, 6}}},
};

Floats numbers(std::int64_t count, std::uint32_t seed)
{
    Floats v(static_cast<std::size_t>(count));
    for (float& f : v) {
        seed = seed * 1664525u + 1013904223u;
        f = static_cast<float>(static_cast<std::int32_t>(seed) >> 8) / 8388608.0f;
    }
    return v;
}

Shape shape_of(const std::array<std::int64_t, 4>& sizes) { return {sizes.begin(), sizes.end()}; }

std::int64_t count(const std::array<std::int64_t, 4>& s) { return s[0] * s[1] * s[2] * s[3]; }

std::array<std::int64_t, 4> output(const Case& c)
{
    const auto size = [&](std::size_t i) {
        return (c.x[i + 2] + 2 * c.options.padding[i] - c.weight[i + 2]) / c.options.stride[i] + 1;
    };
    return {c.x[0], c.weight[0], size(0), size(1)};
}

// y and, for a gradient dy of it, those of the three inputs
struct Expected {
    Doubles y, dx, dweight, dbias;
};

Expected expected(const Case& c, const Floats& x, const Floats& weight, const Floats& bias, const Floats& dy)
{
    const auto o = output(c);
    Expected e{Doubles(dy.size()), Doubles(x.size()), Doubles(weight.size()), Doubles(bias.size())};
    std::size_t at = 0;
    for (std::int64_t n = 0; n < o[0]; ++n)
        for (std::int64_t co = 0; co < o[1]; ++co)
            for (std::int64_t oy = 0; oy < o[2]; ++oy)
                for (std::int64_t ox = 0; ox < o[3]; ++ox, ++at) {
                    if (!bias.empty()) {
                        e.y[at] += double{bias[static_cast<std::size_t>(co)]};
                        e.dbias[static_cast<std::size_t>(co)] += double{dy[at]};
                    }
                    for (std::int64_t ci = 0; ci < c.x[1]; ++ci)
                        for (std::int64_t ky = 0; ky < c.weight[2]; ++ky)
                            for (std::int64_t kx = 0; kx < c.weight[3]; ++kx) {
                                const auto iy = oy * c.options.stride[0] - c.options.padding[0] + ky;
                                const auto ix = ox * c.options.stride[1] - c.options.padding[1] + kx;
                                if (iy < 0 || iy >= c.x[2] || ix < 0 || ix >= c.x[3]) continue;
                                const auto i =
                                    static_cast<std::size_t>(((n * c.x[1] + ci) * c.x[2] + iy) * c.x[3] + ix);
                                const auto k = static_cast<std::size_t>(
                                    ((co * c.x[1] + ci) * c.weight[2] + ky) * c.weight[3] + kx);
                                e.y[at] += double{x[i]} * weight[k];
                                e.dx[i] += double{dy[at]} * weight[k];
                                e.dweight[k] += double{dy[at]} * x[i];
                            }
                }
    return e;
}

void expect_near(const Tensor& t, const Doubles& want, double tolerance)
{
    const Floats got = t.to_vector<float>();
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(double{got[i]}, want[i], tolerance) << "at " << i;
}

TEST(Conv2d, EqualsTheSumOverItsWindows)
{
    for (const Case& c : cases) {
        std::ostringstream name;
        name << c;
        SCOPED_TRACE(name.str());
        const auto o = output(c);
        const Floats x = numbers(count(c.x), 1), weight = numbers(count(c.weight), 2),
                     dy = numbers(count(o), 3), bias = numbers(c.bias ? c.weight[0] : 0, 4);
        const Expected e = expected(c, x, weight, bias, dy);
        const Variable vx(from_vector(x, shape_of(c.x))), vw(from_vector(weight, shape_of(c.weight)));
        const Tensor vb = c.bias ? Variable(from_vector(bias)) : Tensor();
        const Tensor y = conv2d(vx, vw, vb, c.options);
        EXPECT_EQ(y.shape(), shape_of(o));
        expect_near(y, e.y, 1e-4);
        y.backward(from_vector(dy, shape_of(o)));
        expect_near(vx.grad(), e.dx, 1e-4);
        expect_near(vw.grad(), e.dweight, 1e-3);
        if (c.bias) expect_near(vb.grad(), e.dbias, 1e-3);
    }
}

std::vector<Tensor> tensors(const Case& c)
{
    const CreationOptions on_reference{.device = Device("reference")};
    std::vector<Tensor> t{from_vector(numbers(count(c.x), 1), shape_of(c.x), on_reference),
                          from_vector(numbers(count(c.weight), 2), shape_of(c.weight), on_reference)};
    if (c.bias) t.push_back(from_vector(numbers(c.weight[0], 3), {c.weight[0]}, on_reference));
    return t;
}

Tensor convolve(const Case& c, const std::vector<Tensor>& in)
{
    return conv2d(in[0], in[1], in.size() > 2 ? in[2] : Tensor(), c.options);
}

TEST(Conv2d, GradientsAreThoseOfDifferences)
{
    for (const Case& c : cases) {
        if (count(c.x) > 600) continue;
        const GradCheck check =
            gradcheck([&](const std::vector<Tensor>& in) { return convolve(c, in); }, tensors(c));
        EXPECT_TRUE(check.passed) << c << check.message;
    }
}

Tensor with_gradient(const Tensor& t) { return t.requires_grad() ? t : t.detach().requires_grad_(); }

// The gradients of all inputs of c, for a cotangent that depends on x and the weight: so each of the three ops is
// differentiated by each of its tensors.
TEST(Conv2d, SecondGradientsAreThoseOfDifferences)
{
    for (const Case& c : cases) {
        if (count(c.x) > 250) continue;
        const auto gradients = [&](std::vector<Tensor> in) {
            for (Tensor& t : in) t = with_gradient(t);
            const Tensor y = convolve(c, in);
            const auto g = grad({y}, {in[0], in[1]}, {.create_graph = true, .cotangents = {y * y}});
            return sum(g[0] * g[0]) + sum(g[1] * g[1]);
        };
        const GradCheck check = gradcheck(gradients, tensors(c), {.tolerance = 1e-5});
        EXPECT_TRUE(check.passed) << c << check.message;
    }
}

TEST(Conv2d, TakesViewsOfAnyStrides)
{
    const Case c{{2, 3, 6, 8}, {4, 3, 3, 3}, {.padding = {1, 1}}};
    const Tensor x = from_vector(numbers(count(c.x), 1), shape_of(c.x));
    const Tensor weight = from_vector(numbers(count(c.weight), 2), shape_of(c.weight));
    const Tensor bias = from_vector(numbers(4, 3));
    const Floats plain = conv2d(x, weight, bias, c.options).to_vector<float>();

    const Tensor last = permute(x, {0, 2, 3, 1}).contiguous(); // channels last
    const Tensor wide = from_vector(numbers(2 * 4 * 3 * 3 * 3, 5), {4, 3, 3, 6});
    EXPECT_EQ(conv2d(permute(last, {0, 3, 1, 2}), weight, bias, c.options).to_vector<float>(), plain);
    const Tensor rows = wide.narrow(3, 1, 3);
    EXPECT_EQ(conv2d(x, rows, bias, c.options).to_vector<float>(),
              conv2d(x, rows.contiguous(), bias, c.options).to_vector<float>());
    const Tensor batch = from_vector(numbers(2 * count(c.x), 6), {4, 3, 6, 8}), half = batch.narrow(0, 1, 2);
    EXPECT_EQ(conv2d(half, weight, {}, c.options).to_vector<float>(),
              conv2d(half.contiguous(), weight, {}, c.options).to_vector<float>());

    // a gradient of any strides, too
    const Variable vx(x), vw(weight);
    const Tensor y = conv2d(vx, vw, {}, c.options);
    const Tensor dy = from_vector(numbers(2 * 4 * 6 * 8, 7), {2, 6, 8, 4});
    const auto strided =
        grad({y}, {vx, vw}, {.retain_graph = true, .cotangents = {permute(dy, {0, 3, 1, 2})}});
    const auto dense = grad({y}, {vx, vw}, {.cotangents = {permute(dy, {0, 3, 1, 2}).contiguous()}});
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(strided[i].to_vector<float>(), dense[i].to_vector<float>());
}

TEST(Conv2d, AnEmptyBatchGivesNothingAndNoGradient)
{
    const Variable x(zeros({0, 3, 8, 8})), weight(from_vector(numbers(4 * 3 * 9, 1), {4, 3, 3, 3})),
        bias(ones({4}));
    const Tensor y = conv2d(x, weight, bias, {.padding = {1, 1}});
    EXPECT_EQ(y.shape(), (Shape{0, 4, 8, 8}));
    EXPECT_TRUE(y.to_vector<float>().empty());
    y.backward(zeros({0, 4, 8, 8}));
    EXPECT_EQ(x.grad().shape(), (Shape{0, 3, 8, 8}));
    EXPECT_THAT(weight.grad().to_vector<float>(), Each(0.0f));
    EXPECT_THAT(bias.grad().to_vector<float>(), Each(0.0f));
}

TEST(Conv2d, ANaNReachesItsWindowsOnly)
{
    Floats x(8 * 8, 1.0f);
    x[3 * 8 + 4] = std::numeric_limits<float>::quiet_NaN();
    const Floats y =
        conv2d(from_vector(x, {1, 1, 8, 8}), ones({1, 1, 3, 3}), {}, {.padding = {1, 1}}).to_vector<float>();
    for (int i = 0; i < 64; ++i)
        EXPECT_EQ(std::isnan(y[static_cast<std::size_t>(i)]),
                  std::abs(i / 8 - 3) <= 1 && std::abs(i % 8 - 4) <= 1)
            << i;
}

// The same sums by other kernels: rows of a padded image are longer than the output's.
// In one variant: of odd images all devices make patches.
TEST(Conv2d, PaddingEqualsZerosAroundTheImageBitForBit)
{
    constexpr std::int64_t planes = 2 * 3, size = 13, wide = size + 2;
    const Floats inner = numbers(planes * size * size, 1);
    Floats outer(planes * wide * wide);
    for (std::int64_t i = 0; i < planes * size * size; ++i) {
        const std::int64_t x = i % size, y = i / size % size, plane = i / (size * size);
        outer[static_cast<std::size_t>((plane * wide + y + 1) * wide + x + 1)] =
            inner[static_cast<std::size_t>(i)];
    }
    const Variable weight(from_vector(numbers(4 * 3 * 9, 2), {4, 3, 3, 3}));
    const Tensor dy = from_vector(numbers(2 * 4 * size * size, 3), {2, 4, size, size});
    const Variable a(from_vector(inner, {2, 3, size, size})), b(from_vector(outer, {2, 3, wide, wide}));
    const Tensor padded = conv2d(a, weight, {}, {.padding = {1, 1}}), zeros_around = conv2d(b, weight);
    EXPECT_EQ(padded.to_vector<float>(), zeros_around.to_vector<float>());
    const auto by_padding = grad({padded}, {a, weight}, {.cotangents = {dy}});
    const auto by_zeros = grad({zeros_around}, {b, weight}, {.cotangents = {dy}});
    EXPECT_EQ(by_padding[0].to_vector<float>(),
              by_zeros[0].narrow(2, 1, size).narrow(3, 1, size).to_vector<float>());
    EXPECT_EQ(by_padding[1].to_vector<float>(), by_zeros[1].to_vector<float>());
}

// Sizes that are symbols: the kernels for texels are chosen at the call.
TEST(Conv2d, RecordedForAnySizeEqualsEager)
{
    const Dim batch = symbol("batch"), height = symbol("height"), width = symbol("width");
    Variable weight(from_vector(numbers(5 * 3 * 9, 1), {5, 3, 3, 3})), bias(from_vector(numbers(5, 2)));
    const auto step = [&](const Tensor& x) {
        const Tensor y = conv2d(x, weight, bias, {.padding = {1, 1}});
        const auto g = grad({y}, {x, weight, bias}, {.cotangents = {y}});
        return std::vector<Tensor>{y, g[0], g[1], g[2]};
    };
    const Program fixed =
        record([&](Tensor x) { return step(x.requires_grad_()); }, {spec({batch, 3, 8, 8})});
    const Program free =
        record([&](Tensor x) { return step(x.requires_grad_()); }, {spec({batch, 3, height, width})});
    const auto compare = [&](const Program& program, const Shape& shape) {
        SCOPED_TRACE(to_string(shape));
        const Tensor x =
            from_vector(numbers(shape[0].value() * 3 * shape[2].value() * shape[3].value(), 3), shape)
                .requires_grad_();
        const auto want = step(x), got = program.call({x.detach()});
        for (std::size_t i = 0; i < want.size(); ++i)
            EXPECT_EQ(got[i].to_vector<float>(), want[i].to_vector<float>()) << i;
    };
    for (const int n : {3, 1, 64, 0}) compare(fixed, {n, 3, 8, 8});
    for (const Shape& s : {Shape{2, 3, 8, 8}, {2, 3, 7, 9}, {1, 3, 2, 2}, {3, 3, 14, 14}, {2, 3, 3, 5}})
        compare(free, s);
}

TEST(Conv2d, RefusesWhatDoesNotFit)
{
    const Tensor x = zeros({2, 3, 8, 8}), weight = zeros({4, 3, 3, 3});
    const auto error = [&](const Tensor& a, const Tensor& b, const Tensor& bias = {},
                           const ConvOptions<2>& o = {}) {
        return error_of([&] { return conv2d(a, b, bias, o); });
    };
    Caught e = error(zeros({8, 8}), weight);
    EXPECT_EQ(e.kind, ErrorKind::shape);
    EXPECT_THAT(e.text,
                HasSubstr("[conv2d] The input's shape ([8, 8]) must be [batch, channels, height, width]."));
    e = error(x, zeros({4, 3, 3}));
    EXPECT_EQ(e.kind, ErrorKind::shape);
    EXPECT_THAT(e.text, HasSubstr("[conv2d] The weight's shape ([4, 3, 3])"));
    e = error(x, zeros({4, 5, 3, 3}));
    EXPECT_EQ(e.kind, ErrorKind::shape);
    EXPECT_THAT(e.text, HasSubstr("The input has (3) channels but the weight has (5)"));
    e = error(x, weight, zeros({5}));
    EXPECT_EQ(e.kind, ErrorKind::shape);
    EXPECT_THAT(e.text, HasSubstr("The bias has (5) elements but the weight has (4) out channels"));
    e = error(x, weight, zeros({4, 1}));
    EXPECT_EQ(e.kind, ErrorKind::shape);
    EXPECT_THAT(e.text, HasSubstr("The bias's shape ([4, 1]) must be [out channels]."));
    e = error(x, zeros({4, 3, 11, 3}), {}, {.padding = {1, 1}});
    EXPECT_EQ(e.kind, ErrorKind::shape);
    EXPECT_THAT(e.text, HasSubstr("[conv2d] A window of kernel size (11)"));
    e = error(x, weight, {}, {.stride = {1, 0}});
    EXPECT_EQ(e.kind, ErrorKind::argument);
    EXPECT_THAT(e.text, HasSubstr("stride (0)"));
    e = error(x, weight, {}, {.padding = {-1, 0}});
    EXPECT_EQ(e.kind, ErrorKind::argument);
    EXPECT_THAT(e.text, HasSubstr("padding (-1)"));
    e = error(zeros({2, 3, 8, 8}, {.dtype = i32}), zeros({4, 3, 3, 3}, {.dtype = i32}));
    EXPECT_EQ(e.kind, ErrorKind::dtype);
    e = error(x, zeros({4, 3, 3, 3}, {.dtype = f16}));
    EXPECT_EQ(e.kind, ErrorKind::dtype);
    EXPECT_THAT(e.text, HasSubstr("(f32 and f16) differ"));
}

} // namespace
