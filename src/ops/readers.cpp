#include "ops/readers.hpp"

#include <cctype>
#include <cmath>
#include <string>
#include <unordered_map>
#include <vector>

#include "ops/vocabulary.hpp"

namespace reprise::ops {
namespace {

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_name(char c) { return starts_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Returns the bits of BasicRow::reads for the text of a formula.
std::uint8_t read_by(std::string_view text, int arity)
{
    unsigned bits = 0;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i + 1;
        if (continues_name(text[i])) // also skips numbers, so that the e of 1e5 is no name
            while (end < text.size() && continues_name(text[end])) ++end;
        const std::string_view word = text.substr(i, end - i);
        if (word == "x" || word == "a") bits |= 1u;
        else if (word == "b") bits |= 2u;
        else if (word == "c") bits |= 4u;
        else if (word == "y") bits |= 1u << arity;
        else if (word == "dy") bits |= 2u << arity;
        i = end;
    }
    return static_cast<std::uint8_t>(bits);
}

template <class Real>
BasicRow<Real> make_row(const char* name, std::string_view types, Real (*forward)(const Real*),
                        std::array<Real (*)(const Real*, Real, Real), max_arity> derivative,
                        std::array<const char*, 1 + max_arity> text, std::array<double, 2 * max_arity> domain)
{
    BasicRow<Real> row{name, types, forward, derivative, text, domain, {}};
    for (std::size_t part = 0; part < types.size(); ++part) {
        const std::string_view t = text[part];
        if (part > 0 && t == "NONE") row.derivative[part - 1] = nullptr;
        else row.reads[part] = read_by(t, row.arity());
    }
    return row;
}

#define K(c) static_cast<real>(c)
#define NONE K(0)

namespace reference {
using real = double;
bool rp_and(bool a, bool b) { return a && b; }
bool rp_or(bool a, bool b) { return a || b; }
bool rp_not(bool a) { return !a; }
bool rp_is_nonzero(double x) { return x != 0; }
double rp_select(bool c, double a, double b) { return c ? a : b; }
double rp_abs(double x) { return std::fabs(x); }
double rp_sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
double rp_max(double a, double b) { return a > b || std::isnan(a) ? a : b; }
double rp_min(double a, double b) { return a < b || std::isnan(a) ? a : b; }
double rp_floor(double x) { return std::floor(x); }
double rp_ceil(double x) { return std::ceil(x); }
double rp_round(double x) { return std::nearbyint(x); }
double rp_exp(double x) { return std::exp(x); }
double rp_expm1(double x) { return std::expm1(x); }
double rp_log(double x) { return std::log(x); }
double rp_log1p(double x) { return std::log1p(x); }
double rp_div(double a, double b) { return a / b; }
double rp_sqrt(double x) { return std::sqrt(x); }
double rp_rsqrt(double x) { return 1 / std::sqrt(x); }
double rp_sin(double x) { return std::sin(x); }
double rp_cos(double x) { return std::cos(x); }
double rp_tanh(double x) { return std::tanh(x); }
double rp_erf(double x) { return std::erf(x); }
double rp_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double rp_pow(double a, double b) { return std::pow(a, b); }
double rp_atan2(double a, double b) { return std::atan2(a, b); }
bool rp_is_nan(double x) { return std::isnan(x); }
bool rp_is_inf(double x) { return std::isinf(x); }
double rp_trunc(double x) { return std::trunc(x); }
double rp_log2(double x) { return std::log2(x); }
double rp_log10(double x) { return std::log10(x); }
double rp_tan(double x) { return std::tan(x); }
double rp_sinh(double x) { return std::sinh(x); }
double rp_cosh(double x) { return std::cosh(x); }
double rp_asinh(double x) { return std::asinh(x); }
double rp_acosh(double x) { return std::acosh(x); }
double rp_atanh(double x) { return std::atanh(x); }
double rp_fmod(double a, double b) { return std::fmod(a, b); }
double rp_remainder(double a, double b)
{
    const double r = std::fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
double rp_floor_divide(double a, double b)
{
    const double r = std::fmod(a, b), q = (a - r) / b;
    return b == 0 ? a / b : std::nearbyint(r != 0 && (r < 0) != (b < 0) ? q - 1 : q);
}
double rp_trunc_divide(double a, double b) { return std::trunc(a / b); }
using native::rp_bitwise_and, native::rp_bitwise_or, native::rp_bitwise_xor, native::rp_bitwise_not,
    native::rp_left_shift, native::rp_right_shift;
#include "ops/readers.inc"
} // namespace reference

namespace on_native {
using real = float;
using namespace native;
#include "ops/readers.inc"
} // namespace on_native

namespace on_integers {
struct Whole { // a 64-bit integer that wraps around
    std::int64_t value;
    Whole(std::int64_t v) : value(v) {}
    explicit operator bool() const { return value != 0; }
    std::uint64_t bits() const { return static_cast<std::uint64_t>(value); }
    static Whole of(std::uint64_t bits) { return static_cast<std::int64_t>(bits); }
    friend Whole operator+(Whole a, Whole b) { return of(a.bits() + b.bits()); }
    friend Whole operator-(Whole a, Whole b) { return of(a.bits() - b.bits()); }
    friend Whole operator*(Whole a, Whole b) { return of(a.bits() * b.bits()); }
    Whole operator-() const { return of(0 - bits()); }
    friend auto operator<=>(Whole, Whole) = default;
};
using real = Whole;
bool rp_is_nonzero(Whole x) { return x.value != 0; }
Whole rp_select(bool c, Whole a, Whole b) { return c ? a : b; }
Whole rp_abs(Whole x) { return x.value < 0 ? -x : x; }
Whole rp_sign(Whole x) { return std::int64_t{x.value > 0} - std::int64_t{x.value < 0}; }
// Returns 0 where b is 0.  The smallest integer divided by -1 is itself.
Whole rp_trunc_divide(Whole a, Whole b)
{
    return b.value == 0 ? Whole(0) : b.value == -1 ? -a : Whole(a.value / b.value);
}
Whole rp_fmod(Whole a, Whole b) { return b.value == 0 ? Whole(0) : a - b * rp_trunc_divide(a, b); }
bool signs_differ(Whole rest, Whole b) { return rest.value != 0 && (rest.value < 0) != (b.value < 0); }
Whole rp_remainder(Whole a, Whole b)
{
    const Whole r = rp_fmod(a, b);
    return signs_differ(r, b) ? r + b : r;
}
Whole rp_floor_divide(Whole a, Whole b)
{
    return rp_trunc_divide(a, b) - Whole(std::int64_t{signs_differ(rp_fmod(a, b), b)});
}
Whole rp_bitwise_and(Whole a, Whole b) { return a.value & b.value; }
Whole rp_bitwise_or(Whole a, Whole b) { return a.value | b.value; }
Whole rp_bitwise_xor(Whole a, Whole b) { return a.value ^ b.value; }
Whole rp_bitwise_not(Whole a) { return ~a.value; }
bool shifts_within(Whole b) { return b.value >= 0 && b.value < 64; }
Whole rp_left_shift(Whole a, Whole b) { return shifts_within(b) ? Whole::of(a.bits() << b.value) : Whole(0); }
Whole rp_right_shift(Whole a, Whole b) { return a.value >> (shifts_within(b) ? b.value : 63); }
Whole rp_max(Whole a, Whole b) { return a > b ? a : b; }
Whole rp_min(Whole a, Whole b) { return a < b ? a : b; }

// The type of the last input determines whether a row takes integers.
#define FORMULA_F(name, formula, ...)
#define FORMULA_B(name, formula, ...)
#define FORMULA_N(name, formula, ...)                                                                        \
    std::int64_t name(const std::int64_t* v) { __VA_ARGS__ return Whole(formula).value; }
#define FORMULA_I FORMULA_N
#define INPUT(k, type, name) const TYPE_##type name(static_cast<TYPE_##type>(v[k]));
#define TYPE_F Whole
#define TYPE_N Whole
#define TYPE_I Whole
#define TYPE_B bool
#define UNARY(name, out, tx, f, ...) FORMULA_##tx(name, f, INPUT(0, tx, x))
#define BINARY(name, out, ta, tb, f, ...) FORMULA_##tb(name, f, INPUT(0, ta, a) INPUT(1, tb, b))
#define TERNARY(name, out, ta, tb, tc, f, ...)                                                               \
    FORMULA_##tc(name, f, INPUT(0, ta, a) INPUT(1, tb, b) INPUT(2, tc, c))
#include <reprise/elementwise.def>
#undef FORMULA_N

const std::unordered_map<std::string_view, IntegerFormula>& formulas()
{
#define FORMULA_N(name, ...) {#name, name},
#define UNARY(name, out, tx, ...) FORMULA_##tx(name, )
#define BINARY(name, out, ta, tb, ...) FORMULA_##tb(name, )
#define TERNARY(name, out, ta, tb, tc, ...) FORMULA_##tc(name, )
    static const std::unordered_map<std::string_view, IntegerFormula> all = {
#include <reprise/elementwise.def>
    };
    return all;
}
} // namespace on_integers

template <class Real> using Names = std::unordered_map<std::string_view, const BasicRow<Real>*>;

template <class Real> const BasicRow<Real>* find(const Names<Real>& names, std::string_view name)
{
    const auto found = names.find(name);
    return found == names.end() ? nullptr : found->second;
}
template <class Real> Names<Real> names_of(const std::vector<BasicRow<Real>>& rows)
{
    Names<Real> names;
    for (const auto& row : rows) names.emplace(row.name, &row);
    return names;
}

} // namespace

std::span<const Row> reference_rows() noexcept { return reference::rows(); }
std::span<const NativeRow> native_rows() noexcept { return on_native::rows(); }

const Row* find_row(std::string_view name) noexcept
{
    static const Names<double> names = names_of(reference::rows());
    return find(names, name);
}
const NativeRow* find_native_row(std::string_view name) noexcept
{
    static const Names<float> names = names_of(on_native::rows());
    return find(names, name);
}
IntegerFormula find_integer_formula(std::string_view name) noexcept
{
    const auto found = on_integers::formulas().find(name);
    return found == on_integers::formulas().end() ? nullptr : found->second;
}

} // namespace reprise::ops
