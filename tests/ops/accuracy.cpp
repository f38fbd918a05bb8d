// A sum of n terms errs by at most 4 log2(n) eps times the sum of their magnitudes, and what is made of
// sums as well.
#include <gtest/gtest.h>

#include <cmath>

#include "ops/reduce_tools.hpp"

namespace {

using namespace reprise;
using namespace reduce_tools;

constexpr std::int64_t n = 1'000'000;
constexpr double eps = 0x1p-24;

double bound(std::int64_t count) { return 4 * std::log2(static_cast<double>(count)) * eps; }

// Of numbers of one sign, so that nothing cancels, and of both.
std::vector<Tensor> columns()
{
    const Tensor x = drawn({n, 2}, 11);
    return {x, abs(x) + 0.25, x * x * x + 1e3};
}

struct Moments {
    double sum = 0, magnitude = 0, squares = 0;
};
std::vector<Moments> moments_of(const Floats& v, std::size_t width)
{
    std::vector<Moments> out(width);
    for (std::size_t i = 0; i < v.size(); ++i) {
        Moments& m = out[i % width];
        m.sum += static_cast<double>(v[i]);
        m.magnitude += std::fabs(static_cast<double>(v[i]));
        m.squares += static_cast<double>(v[i]) * static_cast<double>(v[i]);
    }
    return out;
}

TEST(Accuracy, OfSumsMeansAndNorms)
{
    for (const Tensor& x : columns()) {
        const Floats v = x.to_vector<float>();
        const std::vector<Moments> want = moments_of(v, 2);
        const Tensor lines = x.t().contiguous();
        for (const bool inner : {false, true}) {
            const Tensor& y = inner ? lines : x;
            const Dims dims{inner ? 1 : 0};
            const Floats sums = sum(y, dims).to_vector<float>(), means = mean(y, dims).to_vector<float>(),
                         norms = norm(y, 2, dims).to_vector<float>(),
                         ends = narrow(cumsum(y, dims[0]), dims[0], n - 1, 1).contiguous().to_vector<float>();
            for (std::size_t c = 0; c < 2; ++c) {
                const Moments& m = want[c];
                EXPECT_LE(std::fabs(sums[c] - m.sum), bound(n) * m.magnitude);
                EXPECT_LE(std::fabs(ends[c] - m.sum), bound(n) * m.magnitude);
                EXPECT_LE(std::fabs(means[c] - m.sum / n), bound(n) * m.magnitude / n);
                EXPECT_LE(std::fabs(norms[c] - std::sqrt(m.squares)), bound(n) * std::sqrt(m.squares));
            }
        }
        double sum_of_all = 0, magnitude = 0;
        for (const Moments& m : want) {
            sum_of_all += m.sum;
            magnitude += m.magnitude;
        }
        EXPECT_LE(std::fabs(sum(x).item<float>() - sum_of_all), bound(2 * n) * magnitude);
    }
}

TEST(Accuracy, OfVariances)
{
    for (const Tensor& x : columns()) {
        const Floats v = x.to_vector<float>();
        const std::vector<Moments> m = moments_of(v, 2);
        std::vector<double> want(2);
        for (std::size_t i = 0; i < v.size(); ++i)
            want[i % 2] += std::pow(static_cast<double>(v[i]) - m[i % 2].sum / n, 2) / (n - 1);
        const Tensor lines = x.t().contiguous();
        const Floats outer = var(x, {0}).to_vector<float>(), inner = var(lines, {1}).to_vector<float>();
        for (std::size_t c = 0; c < 2; ++c) { // a difference from the mean is rounded like the numbers
            const double rounding = std::sqrt(m[c].squares / n) * eps * std::sqrt(want[c]);
            EXPECT_LE(std::fabs(outer[c] - want[c]), bound(n) * want[c] + 2 * rounding);
            EXPECT_LE(std::fabs(inner[c] - want[c]), bound(n) * want[c] + 2 * rounding);
        }
    }
}

// Blocks of factors whose product is beyond f32, behind one that is 0 (PyTorch's numbers).
TEST(Accuracy, OfAGradientOfCumprodWithLargeFactors)
{
    Floats v(100, 0.5f);
    v.insert(v.end(), 200, 2.0f);
    v.insert(v.end(), 300, 1.0f);
    const Variable x(from_vector(v));
    const Floats g = grad(select(cumprod(x, 0), 0, 5), x).to_vector<float>();
    for (std::size_t i = 0; i < g.size(); ++i) EXPECT_EQ(g[i], i < 6 ? 0.03125f : 0.0f) << i;
}

// The second derivative of gelu by tanh tends to 0 on both sides; computed as a difference of numbers near 1 it would
// be lost there (PyTorch 2.15 in f32 errs by a tenth at -5, and gives nothing but 0 beyond 9).
TEST(Accuracy, OfTheSecondDerivativeOfGelu)
{
    Floats at;
    for (int i = -1200; i <= 1200; ++i) at.push_back(static_cast<float>(i) / 80);
    const Variable x(from_vector(at));
    const Tensor slope = grad(sum(gelu(x, GeluApproximation::tanh)), x, {.create_graph = true});
    const Floats found = grad(sum(slope), x).to_vector<float>();
    for (std::size_t i = 0; i < at.size(); ++i) {
        const double k = 1.5957691216057308, z = -std::fabs(static_cast<double>(at[i])); // it is even
        const double p = 1 / (1 + std::exp(-k * (z + 0.044715 * z * z * z)));            // the share of z
        const double d = k * (1 + 0.134145 * z * z),
                     e = p * (1 - p); // of the exponent by z; of p by the exponent
        const double want = 2 * e * d + z * e * ((1 - 2 * p) * d * d + k * 0.26829 * z);
        EXPECT_NEAR(found[i], want, std::fabs(want) * 1e-4 + (std::fabs(z) < 2 ? 3e-7 : 1e-34)) << at[i];
    }
}

// Where a device takes subnormals for 0 they give what 0 gives.
TEST(Accuracy, SubnormalsGiveNoNaN)
{
    const float inf = std::numeric_limits<float>::infinity();
    const Tensor a = from_vector(Floats{0, 1e-40f, 1e-40f, 0}),
                 b = from_vector(Floats{1e-40f, 0, 1e-40f, -1e-40f});
    const Floats angles = atan2(a, b).to_vector<float>();
    for (const float angle : angles) EXPECT_FALSE(std::isnan(angle));
    EXPECT_EQ(angles[0], 0);
    EXPECT_FLOAT_EQ(angles[3], 3.14159265f);
    const Tensor base = from_vector(Floats{0, inf, 2, -2}),
                 tiny = from_vector(Floats{1e-40f, 1e-40f, 1e-40f, 0});
    for (const float power : pow(base, tiny).to_vector<float>()) EXPECT_FALSE(std::isnan(power));
}

} // namespace
