// f64 on a device that has its arithmetic: the bits of the reference where nothing is rounded twice, transcendental
// functions within some units of the last place, and numbers, casts and sizes exactly.  Devices without it refuse it
// when the op is called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>
#include <string>

#include <reprise/autograd.hpp>
#include <reprise/ops/attention.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/losses.hpp>
#include <reprise/ops/pooling.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/ops/sorting.hpp>
#include <reprise/optim.hpp>
#include <reprise/program.hpp>

#include "graph/cell.hpp"
#include "ops/readers.hpp"
#include "ops/registry.hpp"
#include "shape/error_of.hpp"
#include "support/devices.hpp"

namespace {

using namespace reprise;
using testing::HasSubstr;

using Doubles = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();

Tensor doubles(const Doubles& v, const Device& device)
{
    return from_vector(v, {static_cast<long long>(v.size())}, {.device = device});
}

// Where the device has none of it, what is tested is that it says so.
bool has_doubles()
{
    const Caught refused = error_of([] { return zeros({1}, {.dtype = f64}); });
    if (refused.text == Caught{}.text) return true;
    EXPECT_EQ(refused.kind, ErrorKind::unsupported);
    EXPECT_THAT(refused.text, HasSubstr("has no f64 arithmetic"));
    EXPECT_EQ(error_of([] { return from_vector(Doubles{1}, {1}); }).text.find("[from_vector]"), 0u);
    EXPECT_THAT(error_of([] { return cast(zeros({1}), f64); }).text, HasSubstr("has no f64 arithmetic"));
    return false;
}

// The same NaN or the same number; -0 is not 0.
bool same(double a, double b)
{
    return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

const Doubles special = {0.0,
                         -0.0,
                         0.5,
                         -0.5,
                         1.5,
                         2.5,
                         -2.5,
                         0.1,
                         -0.1,
                         1.0,
                         3.0,
                         -7.0,
                         infinity,
                         -infinity,
                         nan,
                         1e300,
                         -1e300,
                         1e-300,
                         4503599627370495.5,
                         -4503599627370496.5,
                         9007199254740993.0,
                         2147483647.5,
                         -2147483648.5,
                         0.3333333333333333,
                         5.1};

bool transcendental(const ops::Row& row)
{
    static const std::regex functions("rp_(exp|log|sin|cos|tan|asinh|acosh|atanh|atan2|erf|pow|sigmoid)");
    return std::regex_search(row.text[0], functions);
}

TEST(DoublesOfRows, AreTheReferences)
{
    if (!has_doubles()) return;
    Doubles a, b;
    for (const double x : special)
        for (const double y : special) {
            a.push_back(x);
            b.push_back(y);
        }
    const Doubles c(a.size(), 0.25);
    for (const ops::Row& row : ops::reference_rows()) {
        if (row.types.find_first_not_of("FN") < row.types.size() - 1) continue; // bools and integers
        if (std::string(row.name) == "cast") continue;
        const auto result = [&](const Device& device) {
            std::vector<Tensor> in{doubles(a, device)};
            if (row.arity() > 1) in.push_back(doubles(b, device));
            if (row.arity() > 2) in.push_back(doubles(c, device));
            const Tensor y = graph::apply1(ops::row_op(row.name), in);
            return cast(y, f64).to_vector<double>();
        };
        const Doubles got = result(default_device()), want = result(Device("reference"));
        // A device may divide and take roots less exactly; transcendental functions have a text of their own there.
        const bool flushes = test::inner(default_device()).capabilities().flushes_subnormals;
        const double relative = transcendental(row) ? 1e-14 : 4e-16,
                     absolute = transcendental(row) ? 1e-14
                                : flushes           ? std::numeric_limits<double>::min()
                                                    : 0;
        for (std::size_t i = 0; i < want.size(); ++i)
            ASSERT_TRUE(same(got[i], want[i]) ||
                        std::fabs(got[i] - want[i]) <= relative * std::fabs(want[i]) + absolute)
                << row.name << "(" << a[i] << ", " << b[i] << ") is " << got[i] << ", not " << want[i];
    }
}

TEST(DoublesAreCast, ToAndFromEveryDtype)
{
    if (!has_doubles()) return;
    for (const DType dtype : {f32, f16, bf16, i32, i16, i8, u8, boolean}) {
        const auto there = [&](const Device& device) {
            const Tensor x = doubles(special, device);
            return cast(cast(x, dtype), f64).to_vector<double>();
        };
        const Doubles got = there(default_device()), want = there(Device("reference"));
        for (std::size_t i = 0; i < want.size(); ++i)
            EXPECT_TRUE(same(got[i], want[i]))
                << name_of(dtype) << " of " << special[i] << " is " << got[i] << ", not " << want[i];
    }
    const std::vector<std::int32_t> whole = {2147483647, -2147483647, 16777217};
    EXPECT_EQ(cast(from_vector(whole, {3}), f64).to_vector<double>(),
              (Doubles{2147483647, -2147483647, 16777217}));
}

TEST(DoublesOfNumbers, AreExact)
{
    if (!has_doubles()) return;
    EXPECT_EQ(full({3}, 0.1, {.dtype = f64}).to_vector<double>(), Doubles(3, 0.1));
    EXPECT_EQ((doubles({3}, default_device()) * 0.1).to_vector<double>()[0], 3 * 0.1);
    EXPECT_EQ(pad(doubles({1}, default_device()), {1, 2}, 0.1).to_vector<double>(),
              (Doubles{0.1, 1, 0.1, 0.1}));
    EXPECT_EQ(mean(doubles({1, 1, 0}, default_device())).item<double>(), 2.0 / 3);
    EXPECT_EQ(arange(5, {.dtype = f64}).to_vector<double>(), (Doubles{0, 1, 2, 3, 4}));
}

TEST(DoublesOfViews, AreFoundAtTheirPlaces)
{
    if (!has_doubles()) return;
    Doubles v(35);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = 0.1 * static_cast<double>(i);
    const Tensor x = reshape(doubles(v, default_device()), {5, 7});
    const Doubles turned = (x.t() + 1.0).to_vector<double>(),
                  part = (x.narrow(1, 3, 3) * 2.0).to_vector<double>();
    for (std::size_t i = 0; i < 5; ++i)
        for (std::size_t j = 0; j < 7; ++j) {
            EXPECT_EQ(turned[j * 5 + i], v[i * 7 + j] + 1.0);
            if (j < 3 || j >= 6) continue;
            EXPECT_EQ(part[i * 3 + j - 3], v[i * 7 + j] * 2.0);
        }
    EXPECT_EQ((x + x.narrow(0, 1, 1)).to_vector<double>()[34], v[34] + v[13]);
}

TEST(DoublesInOrder, AreSortedByAllTheirBits)
{
    if (!has_doubles()) return;
    Doubles v;
    for (int i = 0; i < 700; ++i) v.push_back(1.0 + 1e-15 * ((i * 387) % 700)); // alike as floats
    v[3] = nan;
    v[5] = -infinity;
    for (const std::size_t n : {7u, 700u}) {
        const Doubles part(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(n));
        const auto [got, at] = sort(doubles(part, default_device()));
        const auto [want, of] = sort(doubles(part, Device("reference")));
        const Doubles a = got.to_vector<double>(), b = want.to_vector<double>();
        for (std::size_t i = 0; i < n; ++i) EXPECT_TRUE(same(a[i], b[i])) << i;
        EXPECT_EQ(at.to_vector<std::int32_t>(), of.to_vector<std::int32_t>());
    }
}

// In the two levels that reductions and scans of more than a block have.
TEST(DoublesOfLongLines, AreReducedAndScanned)
{
    if (!has_doubles()) return;
    Doubles v;
    for (int i = 0; i < 700; ++i) v.push_back(1.0 + 1e-15 * ((i * 387) % 700)); // alike as floats
    const auto all = [&](const Device& device) {
        const Tensor x = doubles(v, device);
        Doubles out;
        for (const Tensor& t : {amax(x), amin(x), prod(x), sum(x), cumsum(x, 0), cumprod(x, 0),
                                grad([](const Tensor& of) { return sum(cumprod(of, 0)); }, x)}) {
            const Doubles part = t.to_vector<double>();
            out.insert(out.end(), part.begin(), part.end());
        }
        out.push_back(argmax(x).item<std::int32_t>());
        return out;
    };
    const Doubles got = all(default_device()), want = all(Device("reference"));
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-12 * std::abs(want[i])) << i;
    EXPECT_EQ(got[0], want[0]);
    EXPECT_EQ(got[1], want[1]);
    EXPECT_EQ(got.back(), want.back());
}

TEST(DoublesInPrograms, ServeEverySize)
{
    if (!has_doubles()) return;
    const Dim n = symbol("n");
    auto p = record(
        [](Tensor x) { return grad([](const Tensor& v) { return sum(square(v) * 0.1); }, x) + mean(x); },
        {spec({n}, f64)});
    for (const std::size_t count : {1u, 5u, 600u}) {
        Doubles v(count);
        for (std::size_t i = 0; i < count; ++i) v[i] = 1 + 0.1 * static_cast<double>(i);
        const Doubles got = p(doubles(v, default_device())).to_vector<double>();
        double total = 0;
        for (const double x : v) total += x;
        for (std::size_t i = 0; i < count; ++i)
            EXPECT_NEAR(got[i], 0.2 * v[i] + total / static_cast<double>(count), 1e-13);
    }
}

// More elements than one invocation adds: parts of a mean are added in f64, too.
TEST(Doubles, AverageManyElements)
{
    if (!has_doubles()) return;
    const Tensor x = (arange(160000, {.dtype = f64}) + 0.125).view({1, 1, 400, 400}).requires_grad_();
    const Tensor y = avg_pool2d(x, {.kernel_size = {200, 400}});
    const Doubles means = y.to_vector<double>();
    ASSERT_EQ(means.size(), 2u);
    EXPECT_DOUBLE_EQ(means[0], 39999.625);
    EXPECT_DOUBLE_EQ(means[1], 119999.625);
    sum(y).backward();
    EXPECT_DOUBLE_EQ(x.grad().to_vector<double>().front(), 1 / 80e3);
}

// Softmax, layer norms, attention and losses are made of rows where they have no kernels of their own for f64.
TEST(DoublesOfNetworks, HaveTheReferencesGradients)
{
    if (!has_doubles()) return;
    const auto gradients = [](const Device& device) {
        Doubles v(24);
        for (std::size_t i = 0; i < v.size(); ++i) v[i] = std::sin(0.7 * static_cast<double>(i));
        const auto leaf = [&](const Shape& shape) {
            return reshape(doubles(v, device), shape).detach().requires_grad_();
        };
        const Tensor x = leaf({4, 6}), w = leaf({6, 4}), q = leaf({1, 2, 3, 4});
        const Tensor targets = from_vector(std::vector<std::int32_t>{0, 3, 1, 2}, {4}, {.device = device});
        Tensor loss =
            cross_entropy(gelu(matmul(tanh(x), w)), targets) + sum(log_softmax(x, 1) * softmax(x, 0));
        loss = loss + sum(scaled_dot_product_attention(q, q, sin(q))) + sum(pow(abs(w) + 0.1, 1.7));
        loss.backward();
        Doubles out{loss.item<double>()};
        for (const Tensor& t : {x, w, q}) {
            const Doubles g = t.grad().to_vector<double>();
            out.insert(out.end(), g.begin(), g.end());
        }
        return out;
    };
    const Doubles got = gradients(default_device()), want = gradients(Device("reference"));
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-13) << i;
}

TEST(Doubles, ArePlacedBetweenElementsAndInBinsByAllTheirBits)
{
    if (!has_doubles()) return;
    const Tensor x = doubles({0, 1}, default_device());
    EXPECT_EQ(quantile(x, 0.1, 0).item<double>(), 0.1);
    EXPECT_EQ(histc(doubles({0.3 - 1e-12, 0.3 + 1e-12}, default_device()), 10, 0, 1).to_vector<float>(),
              (std::vector<float>{0, 0, 1, 1, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(histc(x, 2).dtype(), f32);
}

} // namespace
