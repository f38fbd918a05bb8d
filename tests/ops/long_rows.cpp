// softmax, log_softmax and the norms where rows are too long for one invocation.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "ops/reduce_tools.hpp"

namespace {

using namespace reprise;
using namespace reduce_tools;

struct Row {
    const char* name;
    std::function<Tensor(const Tensor& x, std::int64_t dim)> f;
};

Shape row_of(const Tensor& x) { return {x.size(1)}; }
Tensor weights(const Tensor& x, std::uint32_t seed)
{
    return from_vector(numbers(x.size(1).value(), seed), row_of(x), {.device = x.device()});
}

const std::vector<Row> ops{
    {"softmax", [](const Tensor& x, std::int64_t dim) { return softmax(x, dim); }},
    {"log_softmax", [](const Tensor& x, std::int64_t dim) { return log_softmax(x, dim); }},
};
const std::vector<Row> norms{
    {"layer_norm",
     [](const Tensor& x, std::int64_t) { return layer_norm(x, row_of(x), weights(x, 3), weights(x, 4)); }},
    {"plain layer_norm", [](const Tensor& x, std::int64_t) { return layer_norm(x, row_of(x)); }},
    {"rms_norm", [](const Tensor& x, std::int64_t) { return rms_norm(x, row_of(x), weights(x, 5)); }},
};

struct Found {
    Floats y, dx;
};

// Of x with a large mean: what is added up is far from zero.
Found made(const Row& row, const Sizes& sizes, std::int64_t dim, const Device& device)
{
    Floats v = numbers(count_of(sizes), 7);
    for (float& e : v) e = 3 * e + 2;
    Tensor x = from_vector(v, shape_of(sizes), {.device = device});
    x.requires_grad_();
    const Tensor y = row.f(x, dim);
    y.backward(from_vector(numbers(count_of(sizes), 8), shape_of(sizes), {.device = device}));
    return {y.to_vector<float>(), x.grad().to_vector<float>()};
}

void expect_close(const Floats& found, const Floats& want, const std::string& what)
{
    double largest = 0, worst = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
        largest = std::max(largest, std::fabs(double{want[i]}));
        const double error = std::fabs(double{found[i]} - double{want[i]});
        worst = std::max(worst, std::isnan(error) ? INFINITY : error);
    }
    EXPECT_LE(worst, 3e-6 * largest) << what;
}

void expect_as_reference(const Row& row, const Sizes& sizes, std::int64_t dim)
{
    SCOPED_TRACE(std::string(row.name) + " of " + std::to_string(sizes[0]) + " x " +
                 std::to_string(sizes[1]));
    const Found found = made(row, sizes, dim, default_device());
    const Found want = made(row, sizes, dim, Device("reference"));
    expect_close(found.y, want.y, "values");
    expect_close(found.dx, want.dx, "gradient");
    const Found again = made(row, sizes, dim, default_device());
    EXPECT_EQ(again.y, found.y);
    EXPECT_EQ(again.dx, found.dx);
}

// With whole texels and without, and along a dimension whose elements lie apart.
TEST(LongRows, SoftmaxIsTheReferences)
{
    expect_as_reference(ops[0], {1, 1'000'000}, 1);
    for (const Row& row : ops) {
        expect_as_reference(row, {3, 300'001}, 1);
        expect_as_reference(row, {20'000, 3}, 0);
    }
}

TEST(LongRows, NormsAreTheReferences)
{
    expect_as_reference(norms[0], {1, 1'000'000}, 1);
    expect_as_reference(norms[0], {3, 300'001}, 1);
    for (const Row& row : norms) expect_as_reference(row, {3, 20'001}, 1);
}

TEST(LongRows, InfinitiesAndNanComeThrough)
{
    constexpr std::int64_t n = 10'000;
    Floats masked(n, -INFINITY), broken(n, 1);
    masked[7'777] = 3;
    broken[9'999] = NAN;
    const Floats p = softmax(from_vector(masked, {1, n}), 1).to_vector<float>();
    EXPECT_EQ(p[7'777], 1);
    EXPECT_EQ(p[7'776], 0);
    for (const float v : log_softmax(from_vector(broken, {1, n}), 1).to_vector<float>())
        ASSERT_TRUE(std::isnan(v));
}

// The longest rows that one invocation makes, and the first beyond them.
TEST(LongRows, ManyRowsAtTheLimits)
{
    for (const std::int64_t n : {65'536, 131'071})
        for (const Row& row : {norms[0], norms[2]}) expect_as_reference(row, {8, n}, 1);
    expect_as_reference(ops[0], {8, 524'287}, 1);
}

// Around the lengths at which more invocations of a GPU compute a row, and with more rows than a workgroup has.
TEST(LongRows, ShortRowsToo)
{
    for (const std::int64_t n : {3, 5, 60, 63, 64, 65, 1020, 1023, 1024, 1029})
        for (const auto& rows : {ops, norms})
            for (const Row& row : rows) expect_as_reference(row, {n < 1000 ? 65 : 3, n}, 1);
}

// The gradients by the parameters are sums over rows, which GPUs divide among lanes and parts.
TEST(LongRows, GradientsByParametersAreTheReferences)
{
    const auto gradients = [](const Tensor& x, const Tensor& dy) {
        std::vector<Tensor> of{ones({x.size(1)}, {.device = x.device()}),
                               zeros({x.size(1)}, {.device = x.device()})};
        for (Tensor& t : of) t.requires_grad_();
        return grad({layer_norm(x, {x.size(1)}, of[0], of[1])}, of, {.cotangents = {dy}});
    };
    const Dim rows = symbol("rows"), columns = symbol("columns");
    const Program program = record([&](Tensor x, Tensor dy) { return gradients(x, dy); },
                                   {spec({rows, columns}), spec({rows, columns})});
    for (const Sizes& sizes : {Sizes{16, 5}, Sizes{17, 8}, Sizes{256, 1}, Sizes{257, 516}, Sizes{4096, 8},
                               Sizes{4097, 5}, Sizes{9001, 8}, Sizes{0, 8}}) {
        SCOPED_TRACE(testing::Message() << sizes[0] << " x " << sizes[1]);
        const Tensor x = drawn(sizes, 3), dy = drawn({sizes[1], sizes[0]}, 4).t();
        const std::vector<Tensor> found = gradients(x, dy), recorded = program.call({x, dy}),
                                  copied = gradients(x, dy.contiguous()),
                                  want = gradients(x.to(Device("reference")), dy.to(Device("reference")));
        for (std::size_t i = 0; i < 2; ++i) {
            expect_close(found[i].to_vector<float>(), want[i].to_vector<float>(), "gradient");
            EXPECT_EQ(found[i].to_vector<float>(), recorded[i].to_vector<float>());
            EXPECT_EQ(found[i].to_vector<float>(), copied[i].to_vector<float>());
        }
    }
}

// A program takes the way that the sizes of a call ask for.
TEST(LongRows, RecordedEqualsEager)
{
    const Dim rows = symbol("rows"), n = symbol("n");
    const auto f = [](const Tensor& in) {
        Tensor x = in.detach();
        x.requires_grad_();
        std::vector<Tensor> out{softmax(x, 1), log_softmax(x, 1), layer_norm(x, {x.size(1)}),
                                rms_norm(x, {x.size(1)})};
        Tensor loss = sum(out[0] * x);
        for (std::size_t i = 1; i < out.size(); ++i) loss = loss + sum(out[i] * x);
        out.push_back(grad(loss, x));
        return out;
    };
    const Program program = record([&](Tensor x) { return f(x); }, {spec({rows, n})});
    for (const auto& sizes : {Sizes{2, 9000}, Sizes{2, 50}, Sizes{70, 9000}, Sizes{1, 8191}}) {
        const Tensor x = drawn(sizes, 21);
        const std::vector<Tensor> found = program.call({x}), want = f(x);
        for (std::size_t i = 0; i < want.size(); ++i)
            EXPECT_EQ(found[i].to_vector<float>(), want[i].to_vector<float>())
                << sizes[0] << " x " << sizes[1] << ", result " << i;
    }
}

} // namespace
