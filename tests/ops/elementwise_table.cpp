// The table of elementwise ops: its derivatives, its special values, its rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "device/embedded_kernels.hpp"
#include "ops/readers.hpp"

namespace reprise::ops {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// The table read by types, never run: bool and number do not mix, K meets no K and stands in no call alone
// (its rounding would depend on the reader).  A row that breaks this does not compile.
namespace typed {
struct B {};
struct K {
    explicit constexpr K(double) {}
};
struct F {};
using N = F;
using I = F;
#define TYPED(result, function)                                                                              \
    [[maybe_unused]] constexpr result function(F, F) { return {}; }                                          \
    [[maybe_unused]] constexpr result function(F, K) { return {}; }                                          \
    [[maybe_unused]] constexpr result function(K, F) { return {}; }
TYPED(F, operator+)
TYPED(F, operator-)
TYPED(F, operator*)
TYPED(F, operator/)
TYPED(B, operator<)
TYPED(B, operator<=)
TYPED(B, operator>)
TYPED(B, operator>=)
TYPED(B, operator==)
TYPED(B, operator!=)
TYPED(F, rp_max)
TYPED(F, rp_min)
TYPED(F, rp_div)
TYPED(F, rp_pow)
TYPED(F, rp_atan2)
TYPED(F, rp_fmod)
TYPED(F, rp_remainder)
TYPED(F, rp_floor_divide)
TYPED(F, rp_trunc_divide)
TYPED(F, rp_bitwise_and)
TYPED(F, rp_bitwise_or)
TYPED(F, rp_bitwise_xor)
TYPED(F, rp_left_shift)
TYPED(F, rp_right_shift)
#undef TYPED
constexpr F operator-(F) { return {}; }
#define TYPED(name)                                                                                          \
    [[maybe_unused]] constexpr F rp_##name(F) { return {}; }
TYPED(exp)
TYPED(expm1)
TYPED(log)
TYPED(log1p)
TYPED(log2)
TYPED(log10)
TYPED(tan)
TYPED(sinh)
TYPED(cosh)
TYPED(asinh)
TYPED(acosh)
TYPED(atanh)
TYPED(trunc)
TYPED(bitwise_not)
TYPED(sqrt)
TYPED(rsqrt)
TYPED(sin)
TYPED(cos)
TYPED(tanh)
TYPED(erf)
TYPED(sigmoid)
TYPED(abs)
TYPED(sign)
TYPED(floor)
TYPED(ceil)
TYPED(round)
#undef TYPED
constexpr B rp_and(B, B) { return {}; }
constexpr B rp_or(B, B) { return {}; }
constexpr B rp_not(B) { return {}; }
constexpr B rp_is_nonzero(F) { return {}; }
constexpr B rp_is_nan(F) { return {}; }
constexpr B rp_is_inf(F) { return {}; }
constexpr F rp_select(B, F, F) { return {}; }
constexpr F rp_select(B, F, K) { return {}; }
constexpr F rp_select(B, K, F) { return {}; }
template <class... Parts> constexpr bool are_numbers(Parts...) { return (std::is_same_v<Parts, F> && ...); }

constexpr F y, dy;
#define NONE                                                                                                 \
    F {}
#define UNARY(name, out, tx, f, dx, lo, hi)                                                                  \
    constexpr bool name##_is_typed(tx x) { return std::is_same_v<decltype(f), out> && are_numbers(dx); }
#define BINARY(name, out, ta, tb, f, da, db, alo, ahi, blo, bhi)                                             \
    constexpr bool name##_is_typed(ta a, tb b)                                                               \
    {                                                                                                        \
        return std::is_same_v<decltype(f), out> && are_numbers(da, db);                                      \
    }
#define TERNARY(name, out, ta, tb, tc, f, da, db, dc, alo, ahi, blo, bhi, clo, chi)                          \
    constexpr bool name##_is_typed(ta a, tb b, tc c)                                                         \
    {                                                                                                        \
        return std::is_same_v<decltype(f), out> && are_numbers(da, db, dc);                                  \
    }
#include <reprise/elementwise.def>
#undef NONE
#define UNARY(name, out, tx, ...) static_assert(name##_is_typed(tx{}));
#define BINARY(name, out, ta, tb, ...) static_assert(name##_is_typed(ta{}, tb{}));
#define TERNARY(name, out, ta, tb, tc, ...) static_assert(name##_is_typed(ta{}, tb{}, tc{}));
#include <reprise/elementwise.def>
} // namespace typed

std::vector<std::string> all_rows()
{
    std::vector<std::string> names;
    for (const Row& row : reference_rows()) names.emplace_back(row.name);
    return names;
}
class EachRow : public testing::TestWithParam<std::string> {
protected:
    const Row& row = *find_row(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Table, EachRow, testing::ValuesIn(all_rows()),
                         [](const auto& test) { return test.param; });

// Inputs inside the row's domain.
std::vector<double> draw(const Row& row, std::mt19937& random)
{
    std::vector<double> v;
    for (int i = 0; i < row.arity(); ++i) {
        const auto k = static_cast<std::size_t>(i);
        v.push_back(std::uniform_real_distribution<>(row.domain[2 * k], row.domain[2 * k + 1])(random));
        if (row.types[k] == 'B') v.back() = v.back() > 0.5;
    }
    return v;
}

// The worst relative distance of the derivative, times `scale`, from the central difference; NaN stays.
double gradient_error(const Row& row, int k, double scale)
{
    std::mt19937 random(7);
    const double h = 1e-5;
    const auto i = static_cast<std::size_t>(k);
    double worst = 0;
    for (int n = 0; n < 60; ++n) {
        std::vector<double> v = draw(row, random);
        const double x = v[i], found = scale * row.derivative[i](v.data(), row.forward(v.data()), 1);
        v[i] = x + h;
        const double up = row.forward(v.data());
        v[i] = x - h;
        const double want = (up - row.forward(v.data())) / (2 * h);
        const double error = std::fabs(found - want) / (1 + std::fabs(want));
        if (!(error <= worst)) worst = error;
    }
    return worst;
}

TEST_P(EachRow, DerivativesAreCentralDifferences)
{
    for (int k = 0; k < row.arity(); ++k) {
        if (!row.differentiable(k)) continue;
        EXPECT_LE(gradient_error(row, k, 1), 1e-7) << "by input " << k;
        for (double wrong : {7.0, -1.0, 0.0})
            EXPECT_GT(gradient_error(row, k, wrong), 1e-2) << "by input " << k << ": the check can't fail";
        EXPECT_FALSE(gradient_error(row, k, nan) <= 1e-7) << "a NaN passes";
    }
}

// f32 within 1e-5 of double, where nothing cancels: the domains are made so.
TEST_P(EachRow, NativeAgreesWithReference)
{
    const NativeRow& native = *find_native_row(row.name);
    std::mt19937 random(3);
    for (int n = 0; n < 200; ++n) {
        std::vector<double> v = draw(row, random);
        std::vector<float> f(v.begin(), v.end());
        std::copy(f.begin(), f.end(), v.begin());
        const double y = row.forward(v.data());
        EXPECT_NEAR(native.forward(f.data()), y, 1e-5 * (1 + std::fabs(y)));
        for (std::size_t k = 0; k < v.size(); ++k) {
            ASSERT_EQ(row.derivative[k] == nullptr, native.derivative[k] == nullptr);
            if (!row.derivative[k]) continue;
            const double want = row.derivative[k](v.data(), y, 0.5);
            EXPECT_NEAR(native.derivative[k](f.data(), static_cast<float>(y), 0.5f), want,
                        1e-5 * (1 + std::fabs(want)));
        }
    }
}

// What a row calls is a row; nothing but the operators, calls and constants of the rules.
TEST_P(EachRow, CallsRowsOnly)
{
    static const std::set<std::string> other = {"x", "a", "b", "c", "y", "dy", "K", "NONE"};
    static const std::set<std::string> renamed = {"rp_max", "rp_min",        "rp_select", "rp_and",   "rp_or",
                                                  "rp_not", "rp_is_nonzero", "rp_is_nan", "rp_is_inf"};
    static const std::regex name("[A-Za-z_]\\w*"), constant("K\\([-0-9.]+(e[0-9]+)?\\)");
    for (int part = 0; part <= row.arity(); ++part) {
        const std::string text = std::regex_replace(row.text[static_cast<std::size_t>(part)], constant, "K");
        EXPECT_EQ(text.find_first_of("?&|;{}[]%^~\""), text.npos) << text;
        for (std::sregex_iterator i(text.begin(), text.end(), name), end; i != end; ++i) {
            const std::string word = i->str();
            const bool row_called = word.rfind("rp_", 0) == 0 && find_row(word.substr(3));
            EXPECT_TRUE(other.count(word) || renamed.count(word) || row_called)
                << word << " is no row: " << text;
        }
    }
    EXPECT_EQ(row.types.find_first_not_of("FBNI"), row.types.npos);
    EXPECT_FALSE(row.text[0] == std::string("NONE"));
}

// What shaders/ was built of the table is what C++ reads of it.
TEST_P(EachRow, HasItsKernels)
{
    std::set<std::string> kernels;
    for (const device::EmbeddedKernel& k : device::embedded_kernels()) kernels.insert(k.name);
    if (kernels.empty()) GTEST_SKIP() << "built without shaders";
    const auto has = [&](const std::string& suffix) {
        const std::string kernel = std::string("elementwise_") + row.name + suffix;
        const bool plain = kernels.count(kernel + "_plain") == 1, any = kernels.count(kernel) == 1;
        EXPECT_EQ(plain, any) << kernel;
        return any;
    };
    EXPECT_EQ(has("_fwd"), row.takes_floats());
    EXPECT_EQ(has("_fwd_i32"), row.takes_integers());
    for (int k = 0; k < row.arity(); ++k) {
        const bool passed_on = std::string(row.text[static_cast<std::size_t>(k) + 1]) == "dy"; // needs none
        EXPECT_EQ(has("_d" + std::to_string(k)), row.differentiable(k) && !passed_on);
    }
}

TEST(Table, RowsAreFoundByName)
{
    for (const Row& row : reference_rows()) EXPECT_EQ(find_row(row.name), &row);
    for (const NativeRow& row : native_rows()) EXPECT_EQ(find_native_row(row.name), &row);
    EXPECT_EQ(reference_rows().size(), native_rows().size());
    EXPECT_EQ(find_row("conv2d"), nullptr);
    EXPECT_EQ(find_native_row(""), nullptr);
}

TEST(Table, WhatAPartReadsFollowsFromItsText)
{
    const auto reads = [](const char* name, std::size_t part) { return int{find_row(name)->reads[part]}; };
    EXPECT_EQ(reads("relu", 0), 0b001);
    EXPECT_EQ(reads("relu", 1), 0b110);    // y, dy
    EXPECT_EQ(reads("sin", 1), 0b101);     // x, dy
    EXPECT_EQ(reads("add", 1), 0b1000);    // dy
    EXPECT_EQ(reads("mul", 1), 0b1010);    // b, dy
    EXPECT_EQ(reads("div", 2), 0b1110);    // b, y, dy
    EXPECT_EQ(reads("where", 2), 0b10001); // a, dy
    EXPECT_EQ(reads("erf", 1), 0b101);     // the digits of its constants are no names
    EXPECT_EQ(reads("sign", 1), 0);
    EXPECT_EQ(find_row("where")->types, "BNNN");
    EXPECT_FALSE(find_row("where")->differentiable(0));
    EXPECT_TRUE(find_row("where")->differentiable(1));
}

// Where a value is a choice, it is PyTorch's, written here as its documentation and its results have it.
struct Special {
    const char* row;
    int part; // 0: the formula; 1 + k: the derivative by input k, with dy = 1
    std::vector<double> in;
    double want;
};

class SpecialValues : public testing::TestWithParam<Special> {};

TEST_P(SpecialValues, ArePyTorchs)
{
    const Special& s = GetParam();
    const Row& row = *find_row(s.row);
    const NativeRow& native = *find_native_row(s.row);
    const std::vector<float> f(s.in.begin(), s.in.end());
    double found = row.forward(s.in.data());
    float found_native = native.forward(f.data());
    if (s.part > 0) {
        const auto k = static_cast<std::size_t>(s.part - 1);
        found = row.derivative[k](s.in.data(), found, 1);
        found_native = native.derivative[k](f.data(), found_native, 1);
    }
    const auto same = [](double a, double b) {
        return (std::isnan(a) && std::isnan(b)) || a == b || std::fabs(a - b) < 1e-6;
    };
    EXPECT_TRUE(same(found, s.want)) << found << ", not " << s.want;
    EXPECT_TRUE(same(found_native, s.want)) << found_native << " in f32, not " << s.want;
}
std::string name_of(const testing::TestParamInfo<Special>& test)
{
    return std::string(test.param.row) +
           (test.param.part ? "_d" + std::to_string(test.param.part - 1) : "_fwd") + "_" +
           std::to_string(test.index);
}
void PrintTo(const Special& s, std::ostream* out)
{
    *out << s.row << " part " << s.part << " of";
    for (double x : s.in) *out << " " << x;
}

// clang-format off
const std::vector<Special> kinks = {
    {"relu", 0, {nan}, nan}, {"relu", 0, {-inf}, 0}, {"relu", 0, {inf}, inf},
    {"relu", 1, {0}, 0}, {"relu", 1, {-1}, 0}, {"relu", 1, {1e-30}, 1}, {"relu", 1, {nan}, 1},
    {"leaky_relu", 0, {nan, 0.1}, nan}, {"leaky_relu", 1, {0, 0.25}, 0.25},
    {"leaky_relu", 1, {nan, 0.25}, 0.25},
    {"leaky_relu", 2, {0, 0.25}, 0}, {"leaky_relu", 2, {-3, 0.25}, -3}, {"leaky_relu", 2, {3, 0.25}, 0},
    {"elu", 0, {nan, 2}, nan}, {"elu", 0, {-inf, 2}, -2}, {"elu", 0, {100, 2}, 100},
    {"elu", 0, {0, inf}, 0},
    {"elu", 1, {0, 2}, 2}, {"elu", 1, {nan, 2}, 1}, {"elu", 1, {1000, 2}, 1}, {"elu", 1, {-inf, 2}, 0},
    {"abs", 1, {0}, 0}, {"abs", 1, {-0.0}, 0}, {"abs", 1, {nan}, 0}, {"abs", 1, {-inf}, -1},
    {"sign", 0, {nan}, 0}, {"sign", 0, {-0.0}, 0}, {"sign", 0, {-inf}, -1},
    {"maximum", 0, {nan, 1}, nan}, {"maximum", 0, {1, nan}, nan},
    {"maximum", 1, {2, 2}, 0.5}, {"maximum", 2, {2, 2}, 0.5}, {"maximum", 1, {nan, 1}, 1},
    {"maximum", 2, {nan, 1}, 1}, {"maximum", 1, {1, 2}, 0}, {"maximum", 2, {1, 2}, 1},
    {"minimum", 0, {nan, 1}, nan}, {"minimum", 0, {1, nan}, nan},
    {"minimum", 1, {2, 2}, 0.5}, {"minimum", 2, {2, 2}, 0.5}, {"minimum", 1, {1, nan}, 1},
    {"minimum", 2, {1, nan}, 1}, {"minimum", 1, {1, 2}, 1}, {"minimum", 2, {1, 2}, 0},
    {"clamp", 0, {nan, 0, 1}, nan}, {"clamp", 0, {0.5, 2, 1}, 1}, {"clamp", 0, {3, nan, 1}, nan},
    {"clamp", 1, {0, 0, 1}, 0.5}, {"clamp", 1, {1, 0, 1}, 0.5}, {"clamp", 1, {-0.1, 0, 1}, 0},
    {"clamp", 1, {0.5, 0, 1}, 1}, {"clamp", 1, {1, 1, 1}, 1}, {"clamp", 1, {2, 1, 1}, 0},
    {"clamp", 1, {0.5, 1, 0}, 0}, {"clamp", 1, {nan, 0, 1}, 1}, {"clamp", 1, {inf, 0, inf}, 0.5},
    {"clamp", 1, {0, nan, 1}, 1}, {"clamp", 1, {1, nan, 0}, 0}, {"clamp", 1, {0, 0, nan}, 1},
    {"clamp", 2, {0, 0, 1}, 0.5}, {"clamp", 2, {-1, 0, 1}, 1}, {"clamp", 2, {-1, 2, 1}, 0},
    {"clamp", 2, {0, 1, 1}, 1}, {"clamp", 2, {1, 1, 1}, 0}, {"clamp", 2, {nan, 0, 1}, 0},
    {"clamp", 3, {1, 0, 1}, 0.5}, {"clamp", 3, {2, 0, 1}, 1}, {"clamp", 3, {0, 2, 1}, 1},
    {"clamp", 3, {1, 1, 1}, 0}, {"clamp", 3, {2, 1, 1}, 1}, {"clamp", 3, {1, nan, 0}, 0},
    {"clamp_scalar", 0, {nan, 0, 1}, nan}, {"clamp_scalar", 0, {0.5, 2, 1}, 1},
    {"clamp_scalar", 1, {0, 0, 1}, 0}, {"clamp_scalar", 1, {1, 0, 1}, 0}, {"clamp_scalar", 1, {0.5, 0, 1}, 1},
    {"clamp_scalar", 1, {-0.1, 0, 1}, 0}, {"clamp_scalar", 1, {nan, 0, 1}, 0},
    {"clamp_scalar", 1, {0.5, 1, 0}, 0}, {"clamp_scalar", 1, {5, 0, inf}, 1},
    {"celu", 0, {nan, 2}, nan}, {"celu", 0, {-inf, 2}, -2}, {"celu", 0, {100, 2}, 100},
    {"celu", 1, {0, 2}, 1}, {"celu", 1, {1000, 2}, 1}, {"celu", 2, {1000, 2}, 0},
    {"selu", 0, {nan}, nan}, {"selu", 0, {-inf}, -1.7580993408473766}, {"selu", 1, {0}, 1.7580993408473766},
    {"selu", 1, {1000}, 1.0507009873554805},
    {"hardtanh", 0, {nan, -1, 1}, nan}, {"hardtanh", 1, {-1, -1, 1}, 0}, {"hardtanh", 1, {1, -1, 1}, 0},
    {"hardtanh", 1, {0.9, -1, 1}, 1},
    {"hardsigmoid", 0, {nan}, nan}, {"hardsigmoid", 1, {-3}, 0}, {"hardsigmoid", 1, {3}, 0},
    {"hardsigmoid", 0, {inf}, 1}, {"hardsigmoid", 0, {-inf}, 0},
    {"hardswish", 0, {nan}, nan}, {"hardswish", 1, {-3}, 0}, {"hardswish", 1, {3}, 1},
    {"hardswish", 0, {inf}, inf}, {"hardswish", 0, {-inf}, nan},
    {"mish", 0, {200}, 200}, {"mish", 0, {-200}, 0}, {"mish", 1, {200}, 1}, {"mish", 1, {-200}, 0},
    {"bce", 0, {0, 0}, 0}, {"bce", 0, {0, 1}, 100}, {"bce", 0, {1, 0}, 100},
    {"bce", 1, {0.5, 0.5}, 0}, {"bce", 0, {1.5, 0.5}, nan},
    {"bce_with_logits", 0, {1000, 1}, 0}, {"bce_with_logits", 0, {-1000, 1}, 1000},
    {"bce_with_logits", 1, {-1000, 1}, -1},
    {"softplus", 0, {20.5}, 20.5}, {"softplus", 0, {-inf}, 0}, {"softplus", 1, {20.5}, 1},
    {"softplus", 1, {200}, 1}, {"softplus", 1, {-200}, 0}, {"softplus", 1, {nan}, nan},
};
const std::vector<Special> powers = {
    {"pow", 0, {0, 0}, 1}, {"pow", 0, {nan, 0}, 1}, {"pow", 0, {1, nan}, 1}, {"pow", 0, {-2, 3}, -8},
    {"pow", 0, {-8, 0.5}, nan}, {"pow", 0, {0, -1}, inf}, {"pow", 0, {-0.0, -1}, -inf},
    {"pow", 0, {-1, inf}, 1},
    {"pow", 1, {0, 0}, 0}, {"pow", 1, {0, 1}, 1}, {"pow", 1, {0, 2}, 0}, {"pow", 1, {0, 0.5}, inf},
    {"pow", 1, {-3, 2}, -6},
    {"pow", 2, {0, 0}, 0}, {"pow", 2, {0, 2}, 0}, {"pow", 2, {0, -1}, -inf}, {"pow", 2, {-2, 2}, nan},
    {"pow", 2, {1, 5}, 0},
    {"atan2", 1, {0, 0}, 0}, {"atan2", 2, {0, 0}, 0}, {"atan2", 0, {0, -1}, 3.14159265358979},
    {"atan2", 0, {-0.0, 0}, 0},
    {"fmod", 0, {5.5, 2}, 1.5}, {"fmod", 0, {-5.5, 2}, -1.5}, {"fmod", 0, {5.5, -2}, 1.5},
    {"fmod", 0, {5, inf}, 5}, {"fmod", 0, {inf, 2}, nan}, {"fmod", 0, {5, 0}, nan}, {"fmod", 2, {-5, 2}, 2},
    {"remainder", 0, {-5.5, 2}, 0.5}, {"remainder", 0, {5.5, -2}, -0.5}, {"remainder", 0, {-4, 2}, 0},
    {"remainder", 0, {-1, inf}, inf}, {"remainder", 2, {-5, 2}, 3}, {"remainder", 0, {1, 0}, nan},
    {"floor_divide", 0, {-5.5, 2}, -3}, {"floor_divide", 0, {1, 0}, inf}, {"floor_divide", 0, {-1, 0}, -inf},
    {"trunc_divide", 0, {-5.5, 2}, -2}, {"trunc", 0, {-2.7}, -2}, {"trunc", 0, {2.7}, 2}, {"trunc", 0, {-inf}, -inf},
    {"asin", 0, {1}, 1.5707963267948966}, {"asin", 0, {1.5}, nan}, {"asin", 1, {1}, inf},
    {"acos", 0, {-1}, 3.141592653589793}, {"acos", 0, {1}, 0}, {"acos", 0, {-2}, nan}, {"acos", 1, {1}, -inf},
    {"atan", 0, {inf}, 1.5707963267948966}, {"atan", 1, {inf}, 0}, {"atan", 0, {nan}, nan},
    {"tan", 0, {inf}, nan}, {"sinh", 0, {-inf}, -inf}, {"sinh", 0, {1000}, inf}, {"cosh", 0, {-inf}, inf},
    {"log2", 0, {8}, 3}, {"log2", 0, {0}, -inf}, {"log2", 0, {-1}, nan}, {"log10", 0, {1000}, 3},
    {"log10", 0, {0}, -inf}, {"log10", 0, {inf}, inf}, {"log10", 0, {nan}, nan},
    {"isnan", 0, {nan}, 1}, {"isnan", 0, {inf}, 0}, {"isinf", 0, {-inf}, 1}, {"isinf", 0, {nan}, 0},
    {"isfinite", 0, {1e30}, 1}, {"isfinite", 0, {nan}, 0}, {"isfinite", 0, {inf}, 0},
    {"sqrt", 1, {0}, inf}, {"sqrt", 0, {-1}, nan},
    {"rsqrt", 0, {0}, inf}, {"rsqrt", 1, {0}, -inf}, {"rsqrt", 1, {inf}, 0},
    {"reciprocal", 0, {0}, inf}, {"reciprocal", 0, {-0.0}, -inf}, {"reciprocal", 1, {0}, -inf},
    {"reciprocal", 1, {inf}, 0},
    {"div", 0, {0, 0}, nan}, {"div", 0, {1, 0}, inf}, {"div", 2, {1, 0}, -inf}, {"div", 2, {0, 0}, nan},
};
const std::vector<Special> infinities = {
    {"exp", 0, {-inf}, 0}, {"exp", 0, {inf}, inf}, {"exp", 0, {nan}, nan}, {"expm1", 0, {-inf}, -1},
    {"log", 0, {0}, -inf}, {"log", 0, {-1}, nan}, {"log", 1, {0}, inf}, {"log1p", 0, {-1}, -inf},
    {"log1p", 0, {-2}, nan},
    {"sin", 0, {inf}, nan}, {"cos", 0, {-inf}, nan}, {"erf", 0, {-inf}, -1}, {"erf", 1, {inf}, 0},
    {"tanh", 0, {inf}, 1}, {"tanh", 0, {-inf}, -1}, {"tanh", 1, {inf}, 0},
    {"sigmoid", 0, {-inf}, 0}, {"sigmoid", 0, {inf}, 1}, {"sigmoid", 1, {inf}, 0},
    {"silu", 0, {-inf}, nan}, {"silu", 0, {inf}, inf}, {"silu", 1, {-200}, 0}, {"silu", 1, {200}, 1},
    {"silu", 1, {nan}, nan},
    {"gelu_erf", 0, {-inf}, nan}, {"gelu_erf", 0, {-200}, 0}, {"gelu_erf", 1, {200}, 1},
    {"gelu_erf", 1, {-200}, 0},
    {"gelu_tanh", 0, {-inf}, nan}, {"gelu_tanh", 0, {-200}, 0}, {"gelu_tanh", 1, {200}, 1},
    {"gelu_tanh", 1, {-200}, 0},
    {"lerp", 0, {1, inf, 0}, nan}, {"lerp", 0, {1, 3, 0.5}, 2}, {"lerp", 0, {1, 3, 1}, 3},
    {"floor", 0, {-0.5}, -1}, {"floor", 0, {-inf}, -inf}, {"ceil", 0, {0.5}, 1}, {"ceil", 0, {inf}, inf},
    {"round", 0, {0.5}, 0}, {"round", 0, {1.5}, 2}, {"round", 0, {-2.5}, -2}, {"round", 0, {nan}, nan},
};
const std::vector<Special> choices = {
    {"less", 0, {nan, 1}, 0}, {"greater_equal", 0, {nan, nan}, 0}, {"eq", 0, {nan, nan}, 0},
    {"not_equal", 0, {nan, nan}, 1}, {"eq", 0, {0, -0.0}, 1},
    {"to_bool", 0, {nan}, 1}, {"to_bool", 0, {-0.0}, 0}, {"to_bool", 0, {0.1}, 1},
    {"logical_or", 0, {0, 1}, 1}, {"logical_and", 0, {0, 1}, 0}, {"logical_not", 0, {0}, 1},
    {"where", 0, {1, 2, nan}, 2}, {"where", 0, {0, nan, 3}, 3}, {"where", 2, {0, nan, 3}, 0},
    {"where", 3, {0, nan, 3}, 1},
};
// clang-format on
INSTANTIATE_TEST_SUITE_P(Kinks, SpecialValues, testing::ValuesIn(kinks), name_of);
INSTANTIATE_TEST_SUITE_P(Powers, SpecialValues, testing::ValuesIn(powers), name_of);
INSTANTIATE_TEST_SUITE_P(Infinities, SpecialValues, testing::ValuesIn(infinities), name_of);
INSTANTIATE_TEST_SUITE_P(Choices, SpecialValues, testing::ValuesIn(choices), name_of);

} // namespace
} // namespace reprise::ops
