// The vocabulary's texts, in f32 and f64, against the C library.  Devices run the same texts, so their accuracy is
// the devices'.
#include "ops/vocabulary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

namespace reprise::ops {
namespace {

using namespace native;

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// Every n-th float; REPRISE_SWEEP_STRIDE=61 takes half a minute and has found what 3 million samples missed.
std::uint32_t stride()
{
    const char* text = std::getenv("REPRISE_SWEEP_STRIDE");
    return text ? static_cast<std::uint32_t>(std::max(1, std::atoi(text))) : 8209;
}

// Distance in units of the last place of a float near `want`; 0 where both are NaN or the same infinity.
double ulps(float got, double want)
{
    const float near = static_cast<float>(want);
    if (std::isnan(near)) return std::isnan(got) ? 0 : inf;
    if (got == near || (std::isinf(near) && !std::isinf(want) && std::fabs(got) > 3.4028e38f)) return 0;
    int exponent = 0;
    std::frexp(want, &exponent);
    return std::fabs(got - want) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

struct Unary {
    const char* name;
    float (*own)(float);
    double (*want)(double);
    double limit; // ulp
};
void PrintTo(const Unary& u, std::ostream* out) { *out << u.name; }

template <class Case> std::string name_of(const testing::TestParamInfo<Case>& test)
{
    return test.param.name;
}

class Sweep : public testing::TestWithParam<Unary> {};

TEST_P(Sweep, StaysWithinItsLimit)
{
    const Unary& u = GetParam();
    double worst = 0;
    float at = 0;
    const auto check = [&](float x) {
        const double error = ulps(u.own(x), u.want(x));
        if (error > worst) {
            worst = error;
            at = x;
        }
    };
    for (std::uint64_t bits = 0; bits < (1ull << 32); bits += stride())
        check(rp_value(static_cast<uint>(bits)));
    for (float x : {0.f, -0.f, 1.f, -1.f, 0.5f, -0.5f, inf, -inf, nan, 3.4028235e38f, 1.1754944e-38f, 1e-45f,
                    8388607.5f})
        check(x);
    EXPECT_LE(worst, u.limit) << u.name << "(" << at << ") is " << u.own(at) << ", not " << u.want(at);
}

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
double rsqrt(double x) { return 1 / std::sqrt(x); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

INSTANTIATE_TEST_SUITE_P(
    Vocabulary, Sweep,
    testing::Values(Unary{"exp", rp_exp, std::exp, 1}, Unary{"expm1", rp_expm1, std::expm1, 1.5},
                    Unary{"log", rp_log, std::log, 1}, Unary{"log1p", rp_log1p, std::log1p, 1.5},
                    Unary{"log2", rp_log2, std::log2, 1.5}, Unary{"log10", rp_log10, std::log10, 1.5},
                    Unary{"tan", rp_tan, std::tan, 7}, Unary{"sinh", rp_sinh, std::sinh, 3.5},
                    Unary{"cosh", rp_cosh, std::cosh, 3}, Unary{"asinh", rp_asinh, std::asinh, 3},
                    Unary{"acosh", rp_acosh, std::acosh, 3}, Unary{"atanh", rp_atanh, std::atanh, 3},
                    Unary{"trunc", rp_trunc, std::trunc, 0}, Unary{"sqrt", rp_sqrt, std::sqrt, 0.5},
                    Unary{"rsqrt", rp_rsqrt, rsqrt, 1.5}, Unary{"sin", rp_sin, std::sin, 4},
                    Unary{"cos", rp_cos, std::cos, 4}, Unary{"tanh", rp_tanh, std::tanh, 1.5},
                    Unary{"erf", rp_erf, std::erf, 1.5}, Unary{"floor", rp_floor, std::floor, 0},
                    Unary{"ceil", rp_ceil, std::ceil, 0}, Unary{"round", rp_round, std::nearbyint, 0},
                    Unary{"abs", rp_abs, std::fabs, 0}, Unary{"sign", rp_sign, sign, 0}),
    name_of<Unary>);

// exp(-x) overflows before the true value is subnormal: 0 there.
TEST(Vocabulary, SigmoidIsWithinThreeUlpWhereExpIsFinite)
{
    for (std::uint64_t bits = 0; bits < (1ull << 32); bits += stride()) {
        const float x = rp_value(static_cast<uint>(bits));
        if (x < -88) {
            ASSERT_LE(rp_sigmoid(x), 1.2e-38f) << x;
        } else {
            ASSERT_LE(ulps(rp_sigmoid(x), sigmoid(x)), 3) << x;
        }
    }
}

TEST(Vocabulary, TheSignOfZeroStays)
{
    for (float (*f)(float) : {rp_floor, rp_ceil, rp_round, rp_trunc, rp_sin, rp_tan, rp_sinh, rp_tanh, rp_erf,
                              rp_expm1, rp_log1p, rp_sqrt, rp_asinh, rp_atanh})
        EXPECT_EQ(rp_bits(f(-0.f)), 0x80000000u);
    EXPECT_EQ(rp_bits(rp_ceil(-0.25f)), 0x80000000u);
    EXPECT_EQ(rp_bits(rp_ceil(-0.75f)), 0x80000000u);
    EXPECT_EQ(rp_bits(rp_round(-0.5f)), 0x80000000u);
}

TEST(Vocabulary, RoundTakesHalvesToEven)
{
    for (auto [x, want] : {std::pair{0.5f, 0.f},
                           {1.5f, 2.f},
                           {2.5f, 2.f},
                           {-1.5f, -2.f},
                           {-2.5f, -2.f},
                           {8388606.5f, 8388606.f}})
        EXPECT_EQ(rp_round(x), want) << x;
}

TEST(Vocabulary, MaxAndMinKeepNaN)
{
    for (float other : {0.f, 1.f, -inf, inf, nan}) {
        EXPECT_TRUE(std::isnan(rp_max(nan, other)) && std::isnan(rp_max(other, nan)));
        EXPECT_TRUE(std::isnan(rp_min(nan, other)) && std::isnan(rp_min(other, nan)));
    }
    EXPECT_EQ(rp_max(-inf, 2.f), 2.f);
    EXPECT_EQ(rp_min(inf, 2.f), 2.f);
}

TEST(Vocabulary, LogarithmsOfPowersAreExact)
{
    for (int k = -149; k < 128; ++k) EXPECT_EQ(rp_log2(std::ldexp(1.0f, k)), static_cast<float>(k));
    for (int k = -10; k <= 10; ++k)
        EXPECT_EQ(rp_log10(static_cast<float>(std::pow(10.0, k))), static_cast<float>(k));
}

// Every bit of fmod, and what Python makes of it.
TEST(Vocabulary, RemaindersAreExact)
{
    std::mt19937 random(5);
    const auto any = [&] { return rp_value(static_cast<uint>(random())); };
    const auto same = [](float a, float b) {
        return (std::isnan(a) && std::isnan(b)) || rp_bits(a) == rp_bits(b);
    };
    for (int i = 0; i < 300000; ++i) {
        float a = any(), b = any();
        if (i % 2)
            b = std::ldexp(a, static_cast<int>(random() % 40) - 30) * 0.7f; // quotients of ordinary size
        ASSERT_TRUE(same(rp_fmod(a, b), std::fmod(a, b))) << a << " " << b;
        const float r = std::fmod(a, b), want = r != 0 && std::signbit(r) != std::signbit(b) ? r + b : r;
        ASSERT_TRUE(same(rp_remainder(a, b), want)) << a << " " << b;
    }
    EXPECT_EQ(rp_floor_divide(1.0f, 0.1f), 9); // as in Python: 0.1f lies above a tenth
    for (const int a : {7, -7, 0, -2147483647 - 1, 2147483647})
        for (const int b : {2, -2, 1, -1, 3, 2147483647, -2147483647 - 1}) {
            const std::int64_t q = std::int64_t{a} / b, r = std::int64_t{a} % b,
                               down = r != 0 && (r < 0) != (b < 0);
            EXPECT_EQ(rp_fmod(a, b), r);
            EXPECT_EQ(rp_remainder(a, b), r + down * b);
            EXPECT_EQ(rp_trunc_divide(a, b), static_cast<int>(q));
            EXPECT_EQ(rp_floor_divide(a, b), static_cast<int>(q - down));
        }
    EXPECT_EQ(rp_fmod(5, 0), 0);
    EXPECT_EQ(rp_floor_divide(-5, 0), 0);
}

TEST(Vocabulary, PowAndAtan2FollowTheCLibrary)
{
    std::mt19937 random(1);
    const auto number = [&](int low, int high) { // of any sign, exponents from low to high
        const auto mantissa = std::uniform_real_distribution<float>(1, 2)(random);
        const int exponent = std::uniform_int_distribution<int>(low, high)(random);
        return std::ldexp(random() & 1 ? mantissa : -mantissa, exponent);
    };
    for (int i = 0; i < 300000; ++i) {
        float a = std::fabs(number(-60, 60));
        float b =
            std::uniform_real_distribution<float>(-88, 88)(random) / std::max(std::fabs(std::log(a)), 1e-3f);
        ASSERT_LE(ulps(rp_pow(a, b), std::pow(double(a), double(b))), 6) << a << " " << b;
        a = number(-126, 127), b = number(-126, 127);
        ASSERT_LE(ulps(rp_atan2(a, b), std::atan2(double(a), double(b))), 4) << a << " " << b;
    }
    const float special[] = {0.f, -0.f, 1.f,   -1.f,   0.5f,       -0.5f, 2.f,  -2.f,
                             3.f, -3.f, 1e30f, -1e30f, 16777217.f, inf,   -inf, nan};
    for (float a : special)
        for (float b : special) {
            const double power = std::pow(double(a), double(b)), angle = std::atan2(double(a), double(b));
            EXPECT_LE(ulps(rp_pow(a, b), power), 6) << a << " " << b;
            EXPECT_LE(ulps(rp_atan2(a, b), angle), 4) << a << " " << b;
            EXPECT_TRUE(std::isnan(power) || std::signbit(rp_pow(a, b)) == std::signbit(power))
                << a << " " << b;
            EXPECT_TRUE(std::isnan(angle) || std::signbit(rp_atan2(a, b)) == std::signbit(angle))
                << a << " " << b;
        }
}

// Of the finite values of a narrow format (by its own widening function, ascending from +0), the nearest one,
// the even one of two; `infinity`: its code.
uint nearest(float x, float (*widen)(uint), uint infinity)
{
    const double v = std::fabs(double(x));
    const double beyond =
        2 * double(widen(infinity - 1)) - double(widen(infinity - 2)); // one step above the largest
    const auto value = [&](uint code) { return code == infinity ? beyond : double(widen(code)); };
    uint low = 0, high = infinity;
    while (high - low > 1) (value((low + high) / 2) <= v ? low : high) = (low + high) / 2;
    if (v >= beyond) return infinity;
    const double below = v - value(low), above = value(high) - v;
    return below < above || (below == above && low % 2 == 0) ? low : high;
}

struct Narrow {
    const char* name;
    float (*widen)(uint);
    uint (*narrow)(float);
    uint infinity, a_nan;
};
class Conversion : public testing::TestWithParam<Narrow> {};

TEST_P(Conversion, RoundsToNearestEven)
{
    const Narrow& n = GetParam();
    for (uint code = 0; code <= 0xFFFF; ++code) {
        const float x = n.widen(code);
        if (std::isnan(x)) {
            ASSERT_EQ(n.narrow(x) & 0x7FFFu, n.a_nan);
        } else {
            ASSERT_EQ(n.narrow(x), code) << x;
        }
    }
    for (std::uint64_t bits = 0; bits < (1ull << 31); bits += 16411) {
        const float x = rp_value(static_cast<uint>(bits));
        if (std::isnan(x)) continue;
        const uint want = nearest(x, n.widen, n.infinity);
        ASSERT_EQ(n.narrow(x), want) << x;
        ASSERT_EQ(n.narrow(-x), want | 0x8000u) << -x;
    }
    for (uint code = 0; code + 1 < n.infinity; ++code) { // halfway
        const float half = static_cast<float>((double(n.widen(code)) + double(n.widen(code + 1))) / 2);
        ASSERT_EQ(n.narrow(half), code + code % 2) << half;
    }
    EXPECT_EQ(n.narrow(inf), n.infinity);
    EXPECT_EQ(n.narrow(-inf), n.infinity | 0x8000u);
}

INSTANTIATE_TEST_SUITE_P(Vocabulary, Conversion,
                         testing::Values(Narrow{"f16", rp_from_f16, rp_to_f16, 0x7C00u, 0x7E00u},
                                         Narrow{"bf16", rp_from_bf16, rp_to_bf16, 0x7F80u, 0x7FC0u}),
                         name_of<Narrow>);

TEST(Vocabulary, FloatToIntegerTruncatesAndSaturates)
{
    constexpr int most = std::numeric_limits<int>::max(), least = std::numeric_limits<int>::min();
    for (auto [x, want] : {std::pair{2.9f, 2},
                           {-2.9f, -2},
                           {-0.5f, 0},
                           {nan, 0},
                           {inf, most},
                           {-inf, least},
                           {2147483648.f, most},
                           {2147483520.f, 2147483520},
                           {-2147483648.f, least},
                           {-3e9f, least}})
        EXPECT_EQ(rp_to_i32(x), want) << x;
}

TEST(Vocabulary, IntegersHaveTheSameWords)
{
    EXPECT_EQ(rp_max(-3, 2), 2);
    EXPECT_EQ(rp_min(-3, 2), -3);
    EXPECT_EQ(rp_abs(-16777217), 16777217);
    EXPECT_EQ(rp_abs(std::numeric_limits<int>::min()), std::numeric_limits<int>::min()); // wraps
    EXPECT_EQ(rp_sign(-5), -1);
    EXPECT_EQ(rp_sign(0), 0);
    EXPECT_EQ(rp_select(true, 1, 2), 1);
    EXPECT_TRUE(rp_is_nonzero(-1));
    EXPECT_TRUE(rp_is_nonzero(nan));
    EXPECT_FALSE(rp_is_nonzero(-0.f));
    EXPECT_TRUE(rp_is_nonzero(1e-45f)); // a subnormal, also where they are flushed
}

// ---- f64 ----

// Distance in units of the last place of a double near `want`, which has more digits where long double has them.
double ulps_f64(double got, long double want)
{
    const auto near = static_cast<double>(want);
    if (std::isnan(near)) return std::isnan(got) ? 0 : inf;
    if (got == near) return std::signbit(got) == std::signbit(near) ? 0 : inf;
    if (std::isinf(near) || std::isinf(got)) return inf;
    int exponent = 0;
    std::frexp(near, &exponent);
    return static_cast<double>(std::fabs(got - want) / std::ldexp(1.0L, std::max(exponent - 53, -1074)));
}

struct UnaryF64 {
    const char* name;
    double (*own)(double);
    long double (*want)(long double);
    double limit; // ulp
};
void PrintTo(const UnaryF64& u, std::ostream* out) { *out << u.name; }

class SweepF64 : public testing::TestWithParam<UnaryF64> {};

constexpr double special_f64[] = {0.,
                                  -0.,
                                  1.,
                                  -1.,
                                  0.5,
                                  -0.5,
                                  2.,
                                  -2.,
                                  3.,
                                  -3.,
                                  0.1,
                                  1e22,
                                  1e300,
                                  -1e300,
                                  inf,
                                  -inf,
                                  nan,
                                  5e-324,
                                  1e-300,
                                  -1e-300,
                                  709.78,
                                  -745.1,
                                  1.7976931348623157e308,
                                  4503599627370497.,
                                  9007199254740993.,
                                  2.2250738585072014e-308};

TEST_P(SweepF64, StaysWithinItsLimit)
{
    const UnaryF64& u = GetParam();
    double worst = 0, at = 0;
    const auto check = [&](double x) {
        const double error = ulps_f64(u.own(x), u.want(x));
        if (error > worst) {
            worst = error;
            at = x;
        }
    };
    std::mt19937_64 random(7);
    for (int i = 0; i < 60000; ++i) {
        check(std::bit_cast<double>(random())); // of every size
        check(std::uniform_real_distribution<double>(-4, 4)(random));
        check(std::uniform_real_distribution<double>(-800, 800)(random));
        check(std::ldexp(static_cast<double>(random() % 100000) * 1.5707963267948966, // near quarter turns
                         static_cast<int>(random() % 1000)));
    }
    for (const double x : special_f64) check(x);
    EXPECT_LE(worst, u.limit) << u.name << "(" << at << ") is " << u.own(at) << ", not "
                              << static_cast<double>(u.want(at));
}

INSTANTIATE_TEST_SUITE_P(Vocabulary, SweepF64,
                         testing::Values(UnaryF64{"exp", native_f64::rp_exp, std::exp, 1},
                                         UnaryF64{"expm1", native_f64::rp_expm1, std::expm1, 2},
                                         UnaryF64{"log", native_f64::rp_log, std::log, 1},
                                         UnaryF64{"log1p", native_f64::rp_log1p, std::log1p, 1.5},
                                         UnaryF64{"log2", native_f64::rp_log2, std::log2, 1},
                                         UnaryF64{"log10", native_f64::rp_log10, std::log10, 1},
                                         UnaryF64{"tan", native_f64::rp_tan, std::tan, 5},
                                         UnaryF64{"sinh", native_f64::rp_sinh, std::sinh, 4},
                                         UnaryF64{"cosh", native_f64::rp_cosh, std::cosh, 3.5},
                                         UnaryF64{"asinh", native_f64::rp_asinh, std::asinh, 2.5},
                                         UnaryF64{"acosh", native_f64::rp_acosh, std::acosh, 3},
                                         UnaryF64{"atanh", native_f64::rp_atanh, std::atanh, 2.5},
                                         UnaryF64{"sin", native_f64::rp_sin, std::sin, 3},
                                         UnaryF64{"cos", native_f64::rp_cos, std::cos, 3},
                                         UnaryF64{"tanh", native_f64::rp_tanh, std::tanh, 3},
                                         UnaryF64{"erf", native_f64::rp_erf, std::erf, 1.5},
                                         UnaryF64{"floor", native_f64::rp_floor, std::floor, 0},
                                         UnaryF64{"ceil", native_f64::rp_ceil, std::ceil, 0},
                                         UnaryF64{"trunc", native_f64::rp_trunc, std::trunc, 0},
                                         UnaryF64{"round", native_f64::rp_round, std::nearbyint, 0},
                                         UnaryF64{"abs", native_f64::rp_abs, std::fabs, 0}),
                         name_of<UnaryF64>);

TEST(VocabularyF64, PowAtan2AndFmodFollowTheCLibrary)
{
    const auto expect = [](double a, double b) {
        const long double x = a, y = b;
        ASSERT_LE(ulps_f64(native_f64::rp_pow(a, b), std::pow(x, y)), 4) << a << " " << b;
        ASSERT_LE(ulps_f64(native_f64::rp_atan2(a, b), std::atan2(x, y)), 2.5) << a << " " << b;
        ASSERT_LE(ulps_f64(native_f64::rp_fmod(a, b), std::fmod(a, b)), 0) << a << " " << b;
    };
    std::mt19937_64 random(1);
    const auto number = [&](int size) { // of any sign, exponents to +-size
        const double mantissa = std::uniform_real_distribution<double>(1, 2)(random);
        const int exponent = std::uniform_int_distribution<int>(-size, size)(random);
        return std::ldexp(random() & 1 ? mantissa : -mantissa, exponent);
    };
    for (int i = 0; i < 60000; ++i) {
        const double a = std::fabs(number(i % 2 ? 3 : 500));
        expect(a, std::uniform_real_distribution<double>(-709, 709)(random) /
                      std::max(std::fabs(std::log(a)), 1e-3));
        expect(number(20), number(20));
    }
    for (const double a : special_f64)
        for (const double b : special_f64) expect(a, b);
}

TEST(VocabularyF64, LogarithmsOfPowersAreExact)
{
    for (int k = -1074; k < 1024; ++k) EXPECT_EQ(native_f64::rp_log2(std::ldexp(1.0, k)), k);
    for (int k = -22; k <= 22; ++k) EXPECT_EQ(native_f64::rp_log10(std::pow(10.0, k)), k);
}

} // namespace
} // namespace reprise::ops
