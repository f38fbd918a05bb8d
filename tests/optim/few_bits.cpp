// Results in few bits: moments in blocks of 8 bits, and bf16 that is rounded stochastically.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include <reprise/reprise.hpp>

#include "ops/dynamic8.hpp"
#include "ops/random.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using optim::MomentFormat;

// ---- 8 bits ----

// bitsandbytes' create_dynamic_map(): the values in order.
std::vector<double> dynamic_map(bool is_signed)
{
    std::vector<double> out{0, 1};
    for (int decade = 0; decade < 7; ++decade) {
        const int count = 1 << (decade + (is_signed ? 0 : 1));
        for (int i = 0; i < count; ++i) {
            const double from = 0.1 + 0.9 * i / count, to = 0.1 + 0.9 * (i + 1) / count;
            const double value = std::pow(10.0, decade - 6) * (from + to) / 2;
            out.push_back(value);
            if (is_signed) out.push_back(-value);
        }
    }
    std::sort(out.begin(), out.end());
    return out;
}

float value_of(std::uint32_t code, float scale, bool is_signed)
{
    return ops::native::rp_dynamic8_value(code, scale, is_signed);
}

TEST(Dynamic8, HasTheValuesOfTheDynamicMap)
{
    for (const bool is_signed : {false, true}) {
        std::vector<double> found;
        for (std::uint32_t code = 0; code < 256; ++code) found.push_back(value_of(code, 1, is_signed));
        std::sort(found.begin(), found.end());
        const std::vector<double> want = dynamic_map(is_signed);
        ASSERT_EQ(want.size(), 256u);
        for (std::size_t i = 0; i < want.size(); ++i)
            EXPECT_NEAR(found[i], want[i], 2e-7 * std::fabs(want[i])) << i << ' ' << is_signed;
    }
}

TEST(Dynamic8, TakesTheNearestValue)
{
    for (const bool is_signed : {false, true}) {
        const std::vector<double> map = dynamic_map(is_signed);
        for (int i = 0; i <= 200000; ++i) {
            // Evenly and by decades, as most values are near 0.
            const double t = i / 200000.0, magnitude = i % 2 == 0 ? t : std::pow(10.0, -8 * t);
            const auto x = static_cast<float>(is_signed && i % 3 == 0 ? -magnitude : magnitude);
            const std::uint32_t code = ops::native::rp_dynamic8_code(x, 1, is_signed);
            const double found = value_of(code, 1, is_signed);
            if (!is_signed && x > 0 && x < map[1]) { // does not become 0
                ASSERT_EQ(code, 1U) << x;
                continue;
            }
            const auto above = std::lower_bound(map.begin(), map.end(), x);
            double nearest = 2;
            for (auto at = above == map.begin() ? above : above - 1; at != map.end() && at <= above; ++at)
                nearest = std::min(nearest, std::fabs(*at - x));
            ASSERT_NEAR(std::fabs(found - x), nearest, 1e-7) << x << ' ' << is_signed;
        }
    }
}

// The bytes of a moment with these values.
std::vector<std::uint8_t> blocks_of(const std::vector<float>& x, bool is_signed)
{
    std::vector<std::uint8_t> out;
    for (std::size_t first = 0; first < x.size(); first += 256) {
        std::uint32_t largest = 0;
        const std::size_t end = std::min(first + 256, x.size());
        for (std::size_t i = first; i < end; ++i)
            largest = std::max(largest, std::bit_cast<std::uint32_t>(std::fabs(x[i])));
        for (int b = 0; b < 4; ++b) out.push_back(static_cast<std::uint8_t>(largest >> (8 * b)));
        for (std::size_t i = first; i < first + 256; ++i)
            out.push_back(i < end ? static_cast<std::uint8_t>(ops::native::rp_dynamic8_code(
                                        x[i], std::bit_cast<float>(largest), is_signed))
                                  : std::uint8_t{0});
    }
    return out;
}

// Numbers of all sizes, with zeros.
std::vector<float> numbers(std::int64_t n)
{
    std::vector<float> out = test::floats(static_cast<std::size_t>(n), 1, -1, 1);
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = i % 7 == 3 ? 0 : std::ldexp(out[i], -static_cast<int>(i % 23));
    return out;
}

TEST(EightBitMoments, HaveTheSameBytesOnEachDevice)
{
    for (const std::int64_t n : {1, 3, 255, 256, 257, 5000}) {
        const std::vector<float> x = numbers(n);
        const Tensor g = from_vector(x, {n});
        // A velocity that is the gradient, and a sum that is its square.
        const auto velocity = sgd_step(zeros({n}), g, {eight_bit_moment({n}, default_device())},
                                       {.lr = 0.5, .momentum = 0.0})[1];
        EXPECT_EQ(velocity.to_vector<std::uint8_t>(), blocks_of(x, true)) << n;
        const auto sum =
            adagrad_step(zeros({n}), g, {eight_bit_moment({n}, default_device())}, {.lr = 0.5})[1];
        std::vector<float> squares;
        for (const float v : x) squares.push_back(v * v);
        EXPECT_EQ(sum.to_vector<std::uint8_t>(), blocks_of(squares, false)) << n;
        // Read again: a step without gradient moves the parameter by the decoded velocity.
        const auto next = sgd_step(zeros({n}), zeros({n}), {velocity}, {.lr = 1.0, .momentum = 1.0});
        const std::vector<float> moved = next[0].to_vector<float>();
        const std::vector<std::uint8_t> bytes = velocity.to_vector<std::uint8_t>();
        for (std::size_t i = 0; i < moved.size(); ++i) {
            float scale = 0;
            std::memcpy(&scale, &bytes[i / 256 * 260], 4);
            ASSERT_EQ(-moved[i], value_of(bytes[i / 256 * 260 + 4 + i % 256], scale, true)) << n << ' ' << i;
        }
    }
}

TEST(EightBitMoments, ABlockWithInfinityIsNan)
{
    std::vector<float> x(600, 0.5F);
    x[300] = 1e30F;
    const Tensor zero = zeros({600}), blocks = eight_bit_moment({600}, default_device());
    const Tensor sum = adagrad_step(zero, from_vector(x), {blocks}, {.lr = 1.0})[1];
    const std::vector<float> p = adagrad_step(zero, ones({600}), {sum}, {.lr = 1.0})[0].to_vector<float>();
    for (std::size_t i = 0; i < p.size(); ++i) EXPECT_EQ(std::isnan(p[i]), i >= 256 && i < 512) << i;
}

TEST(EightBitMoments, ABlockWithNanIsNan)
{
    std::vector<float> x(600, 0.5F);
    x[300] = std::numeric_limits<float>::quiet_NaN();
    const Tensor zero = zeros({600});
    const auto first =
        sgd_step(zero, from_vector(x), {eight_bit_moment({600}, default_device())}, {.lr = 1.0});
    const std::vector<float> p =
        sgd_step(zero, zero, {first[1]}, {.lr = 1.0, .momentum = 1.0})[0].to_vector<float>();
    for (std::size_t i = 0; i < p.size(); ++i) EXPECT_EQ(std::isnan(p[i]), i >= 256 && i < 512) << i;
}

// An average of squares that is small in its block does not become 0, by whose root Adam would divide.
TEST(EightBitMoments, SmallGradientsBesideLargeOnesMakeNoHugeSteps)
{
    Variable p(zeros({2}));
    optim::Adam adam({p}, {.lr = 1e-3, .precision = {.moments = MomentFormat::eight_bit}});
    for (const float small : {1e-4F, 0.0F, 0.0F}) {
        p.set_grad(from_vector(std::vector<float>{1, small}));
        adam.step();
    }
    EXPECT_LT(std::fabs(p.to_vector<float>()[1]), 5e-3);
}

// ---- stochastic rounding ----

TEST(StochasticRounding, IsExactOnAverage)
{
    constexpr std::int64_t n = 100000;
    manual_seed(7);
    Variable p(ones({n}, {.dtype = bf16}));
    optim::SGD sgd({p}, {.lr = 0x1p-8 / 10, .precision = {.stochastic_rounding = true}});
    std::vector<float> before = p.to_vector<float>();
    for (int step = 1; step <= 3; ++step) { // 1 / 10 of the distance of two bf16 below 1
        p.set_grad(full({n}, 1, {.dtype = bf16}));
        sgd.step();
        const std::vector<float> now = p.to_vector<float>();
        double sum = 0;
        for (const float v : now) {
            sum += v;
            ASSERT_EQ(std::bit_cast<std::uint32_t>(v) & 0xFFFFU, 0U);
        }
        // Four standard deviations of the mean.
        EXPECT_NEAR(sum / n, 1 - step * 0x1p-8 / 10, 4 * 0x1p-8 * std::sqrt(step * 0.09 / n)) << step;
        before = now;
    }
    std::size_t lowered = 0;
    for (const float v : before) lowered += v < 1;
    EXPECT_NEAR(static_cast<double>(lowered) / n, 1 - 0.9 * 0.9 * 0.9, 0.01); // other elements each time
}

TEST(StochasticRounding, HasTheSameBitsEagerAndRecorded)
{
    constexpr std::int64_t n = 1000;
    const auto run = [&](bool recorded, std::uint64_t seed) {
        manual_seed(seed);
        Variable p(cast(from_vector(test::floats(n, 1, -1, 1)), bf16)), q(cast(ones({5}), bf16));
        optim::AdamW o({p, q}, {.lr = 0.01, .precision = {.stochastic_rounding = true}});
        const auto step = [&](Tensor g) {
            p.set_grad(g);
            q.set_grad(g.slice(0, 0, 5));
            o.step();
            return g * 1;
        };
        std::optional<Program> program;
        if (recorded) program = record(step, {spec({n}, bf16)});
        for (std::uint32_t k = 0; k < 4; ++k) {
            const Tensor g = cast(from_vector(test::floats(n, 100 + k, -1, 1)), bf16);
            if (program) static_cast<void>((*program)(g));
            else step(g);
        }
        std::vector<float> out = p.to_vector<float>();
        for (const auto& [name, value] : o.state_dict())
            if (value.dtype() == bf16)
                for (const float v : value.to_vector<float>()) out.push_back(v);
        EXPECT_EQ(out.size(), static_cast<std::size_t>(3 * n + 10));
        return out;
    };
    const std::vector<float> eager = run(false, 3);
    EXPECT_EQ(run(false, 3), eager);
    EXPECT_EQ(run(true, 3), eager);
    EXPECT_NE(run(false, 4), eager);
}

// The bits are those of Philox with the seed as key and (texel, tensor, ordinal) as counter.
TEST(StochasticRounding, HasTheBitsOfTheGenerator)
{
    constexpr std::int64_t n = 1003;
    manual_seed(0x123456789);
    const GeneratorState state = generator_state();
    Variable p(ones({n}, {.dtype = bf16}));
    optim::SGD sgd({p}, {.lr = 0x1p-10, .precision = {.stochastic_rounding = true}}); // exact in f32
    p.set_grad(ones({n}, {.dtype = bf16}));
    sgd.step();
    std::vector<float> want;
    for (std::int64_t i = 0; i < n; ++i) {
        const ops::native::rp_words w = ops::native::rp_philox(
            {static_cast<std::uint32_t>(i / 4), 0, static_cast<std::uint32_t>(state.ordinal), 0}, 0x23456789U,
            1);
        const std::uint32_t words[] = {w.x, w.y, w.z, w.w};
        want.push_back(std::bit_cast<float>(
            (std::bit_cast<std::uint32_t>(1 - 0x1p-10F) + (words[i % 4] >> 16)) & 0xFFFF0000U));
    }
    EXPECT_EQ(p.to_vector<float>(), want);
}

TEST(StochasticRounding, LeavesInfinityAndNan)
{
    constexpr float inf = std::numeric_limits<float>::infinity();
    Variable p(cast(from_vector(std::vector<float>{inf, -inf, NAN, 1}), bf16));
    optim::SGD sgd({p}, {.lr = 1, .precision = {.stochastic_rounding = true}});
    p.set_grad(zeros({4}, {.dtype = bf16}));
    sgd.step();
    const std::vector<float> v = p.to_vector<float>();
    EXPECT_EQ(v[0], inf);
    EXPECT_EQ(v[1], -inf);
    EXPECT_TRUE(std::isnan(v[2]));
    EXPECT_EQ(v[3], 1);
}

} // namespace
} // namespace reprise
