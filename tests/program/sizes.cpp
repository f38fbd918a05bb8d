// Sizes in recorded functions: arithmetic with tensors takes them as they are at each call, and no branch is taken
// on them unseen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "shape/error_of.hpp"

namespace reprise {
namespace {

using testing::HasSubstr;

Tensor numbers(std::int64_t n, double first = 1)
{
    std::vector<float> v;
    for (std::int64_t i = 0; i < n; ++i)
        v.push_back(static_cast<float>(first + 0.5 * static_cast<double>(i)));
    return from_vector(v, {n});
}

using Of = std::function<Tensor(const Tensor&)>;

// Recorded once, called at several sizes, against the same in eager code and with the number written out.
void check(const char* what, const Of& by_size, const std::function<Tensor(const Tensor&, double)>& by_number,
           DType dtype = f32)
{
    const auto program = record([&](Tensor x) { return by_size(x); }, {spec({symbol("n")}, dtype)});
    for (const std::int64_t n : {1, 2, 5, 64, 1000}) {
        const Tensor x = cast(numbers(n), dtype);
        const auto want = cast(by_number(x, static_cast<double>(n)), f32).to_vector<float>();
        EXPECT_EQ(cast(by_size(x), f32).to_vector<float>(), want) << what << " in eager code, of " << n;
        EXPECT_EQ(cast(program(x), f32).to_vector<float>(), want) << what << " of " << n;
    }
}

TEST(SizesOfTensors, AreNumbersOfEachCall)
{
    for (const DType dtype : {f32, f16, i32}) {
        check(
            "x / n", [](const Tensor& x) { return x / x.size(0); },
            [](const Tensor& x, double n) { return x / n; }, dtype);
        check(
            "x * n", [](const Tensor& x) { return x * x.numel(); },
            [](const Tensor& x, double n) { return x * n; }, dtype);
        check(
            "x - n", [](const Tensor& x) { return x - x.size(0); },
            [](const Tensor& x, double n) { return x - n; }, dtype);
        check(
            "x + n", [](const Tensor& x) { return x + x.size(-1) * 2; },
            [](const Tensor& x, double n) { return x + n * 2; }, dtype);
        check(
            "n - x", [](const Tensor& x) { return x.size(0) - x; },
            [](const Tensor& x, double n) { return n - x; }, dtype);
        check(
            "n * x", [](const Tensor& x) { return x.size(0) * x; },
            [](const Tensor& x, double n) { return n * x; }, dtype);
        check(
            "n / x", [](const Tensor& x) { return x.size(0) / x; },
            [](const Tensor& x, double n) { return n / x; }, dtype);
        check(
            "n + x", [](const Tensor& x) { return x.size(0) + x; },
            [](const Tensor& x, double n) { return n + x; }, dtype);
        check(
            "x < n", [](const Tensor& x) { return x < x.size(0); },
            [](const Tensor& x, double n) { return x < n; }, dtype);
        check(
            "x == n", [](const Tensor& x) { return x == x.size(0) / 2; },
            [](const Tensor& x, double n) { return x == std::floor(n / 2); }, dtype);
    }
}

TEST(SizesOfTensors, LetGradientsThrough)
{
    Variable w(from_vector({2.0F, 3.0F}));
    const auto step = record(
        [&](Tensor x) {
            w.zero_grad();
            sum(unsqueeze(x, 1) * w * x.size(0) / x.numel() - x.size(0) * w).backward();
            return w.grad();
        },
        {spec({symbol("n")})});
    for (const std::int64_t n : {1, 3, 40}) {
        const Tensor x = numbers(n);
        const float want = sum(x).item<float>() - static_cast<float>(n * n);
        EXPECT_THAT(step(x).to_vector<float>(),
                    testing::Pointwise(testing::FloatNear(1e-2F), std::vector<float>{want, want}));
    }
}

TEST(SizesOfTensors, GivenWithACall)
{
    const auto times = record([](Tensor x, Dim n) { return x * n; }, {spec({2}, i32), symbol("n")});
    const Tensor x = from_vector(std::vector<std::int32_t>{3, 5}, {2});
    for (const std::int64_t n : {0, 7, 20000001}) // more digits than an f32 has
        EXPECT_EQ(times(x, n).to_vector<std::int32_t>(),
                  (std::vector{static_cast<std::int32_t>(3 * n), static_cast<std::int32_t>(5 * n)}));
}

TEST(SizesOfTensors, TakeNoBranchUnseen)
{
    const auto recorded = [](const std::function<bool(const Tensor&)>& condition, const Dim& n) {
        return error_of([&] {
            return record([&](Tensor x) { return condition(x) ? x * 2 : x * 3; }, {spec({n, 3})});
        });
    };
    const Caught equal = recorded([](const Tensor& x) { return x.size(0) == 4; }, symbol("batch"));
    EXPECT_EQ(equal.kind, ErrorKind::state);
    EXPECT_THAT(equal.text, HasSubstr("(batch) with (4)"));
    EXPECT_EQ(recorded([](const Tensor& x) { return x.numel() > 6; }, symbol("batch")).kind,
              ErrorKind::state);
    EXPECT_EQ(recorded(
                  [](const Tensor& x) {
                      return x.shape() == Shape{4, 3};
                  },
                  symbol("batch"))
                  .kind,
              ErrorKind::state);
    EXPECT_EQ(recorded([](const Tensor& x) { return int{x.size(0)} > 2; }, symbol("batch")).kind,
              ErrorKind::state);
    // What the specs decide is decided.
    const Dim bounded = symbol("bounded", {.min = 2});
    const auto f = record([](Tensor x) { return x.size(0) > 1 && x.size(1) == 3 ? x * 2 : x * 3; },
                          {spec({bounded, 3})});
    EXPECT_EQ(f(ones({2, 3})).to_vector<float>(), std::vector<float>(6, 2));
    // The recorder goes on after an error.
    const auto g = record([](Tensor x) { return x.reshape({x.size(0), -1}); }, {spec({symbol("n"), 2, 3})});
    EXPECT_TRUE((g(ones({4, 2, 3})).shape() == Shape{4, 6}));
}

} // namespace
} // namespace reprise
