// Symbolic sizes.  A Dim is an integer or an expression over named symbols, kept in a canonical form, so
// that equal expressions compare equal whatever way they were built.  Constants allocate nothing.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/few.hpp>

namespace reprise {

class Dim;

namespace shape {
struct Expression; // src/shape/expression.hpp

// What the operators below leave to src/shape/: expressions, and constants that may overflow.
Dim add(const Dim&, const Dim&);
Dim subtract(const Dim&, const Dim&);
Dim multiply(const Dim&, const Dim&);
Dim divide_floor(const Dim&, const Dim&);
Dim minimum(const Dim&, const Dim&);
Dim maximum(const Dim&, const Dim&);
bool same_expression(const Dim&, const Dim&);
bool decided_equal(const Dim&, const Dim&);
bool decided_less(const Dim&, const Dim&);
void retain(const Expression&) noexcept;
void release(const Expression&) noexcept;
[[noreturn]] void fail_not_constant(const Dim&);
[[noreturn]] void fail_too_large(unsigned long long value);
[[noreturn]] void fail_narrow(std::int64_t value, std::size_t bytes);

template <class T>
concept Integer = std::integral<T> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
                  !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;
template <class T>
concept Number = Integer<T> || std::floating_point<T>;
} // namespace shape

// Values are 64-bit integers; arithmetic that leaves them throws Error(argument).
class Dim {
public:
    Dim(int value) : constant_(value) {}
    Dim(long value) : constant_(value) {}
    Dim(long long value) : constant_(value) {}
    Dim(unsigned value) : constant_(value) {}
    Dim(unsigned long value) : Dim(static_cast<unsigned long long>(value)) {}
    Dim(unsigned long long value) : constant_(static_cast<std::int64_t>(value)) // at most 2^63 - 1
    {
        if (constant_ < 0) shape::fail_too_large(value);
    }
    Dim() = default;
    Dim(const Dim& other) noexcept : expression_(other.expression_), constant_(other.constant_)
    {
        if (expression_) shape::retain(*expression_);
    }
    Dim(Dim&& other) noexcept
        : expression_(std::exchange(other.expression_, nullptr)), constant_(other.constant_)
    {}
    Dim& operator=(const Dim& other) noexcept { return *this = Dim(other); }
    Dim& operator=(Dim&& other) noexcept
    {
        std::swap(expression_, other.expression_);
        std::swap(constant_, other.constant_);
        return *this;
    }
    ~Dim()
    {
        if (expression_) shape::release(*expression_);
    }

    bool is_constant() const noexcept { return !expression_; }
    bool is_symbol() const; // one alone, as symbol() gives it
    // The number.  Throws Error(state) for an expression: its value is known at the call only.
    std::int64_t value() const
    {
        if (expression_) shape::fail_not_constant(*this);
        return constant_;
    }
    // The same, so that a size is used as a number is: std::vector<float> v(x.size(0)), int n = x.size(0),
    // std::sqrt(x.size(-1)).  Throw Error(state) as value() does, Error(argument) where an integer type is too small;
    // to bool: whether it is not 0.
    template <shape::Integer I> operator I() const // NOLINT(google-explicit-constructor)
    {
        const std::int64_t number = value();
        if constexpr (std::is_same_v<I, bool>) return number != 0;
        const I narrowed = static_cast<I>(number);
        if (static_cast<std::int64_t>(narrowed) != number || (narrowed < I{}) != (number < 0))
            shape::fail_narrow(number, sizeof(I));
        return narrowed;
    }
    operator double() const { return static_cast<double>(value()); } // NOLINT(google-explicit-constructor)
    // The number for given symbol values (by symbol id).  Throws Error(argument) where a symbol has none,
    // which `values` says with a negative number, and where a divisor is 0.
    std::int64_t evaluate(const std::function<std::int64_t(std::uint32_t symbol)>& values) const;

    bool divisible_by(std::int64_t n) const;    // provably, for all values of the symbols
    bool at_least(std::int64_t n) const;        // provably
    bool at_most(std::int64_t n) const;         // provably
    std::vector<std::uint32_t> symbols() const; // ids, ascending, each once
    std::string text() const;                   // "batch * 196", "floor(seq + 7, 8)"
    std::size_t hash() const;

    const shape::Expression* expression() const noexcept { return expression_; }

    friend Dim operator+(const Dim&, const Dim&);
    friend Dim operator-(const Dim&, const Dim&);
    friend Dim operator*(const Dim&, const Dim&);
    friend Dim floor_div(const Dim&, const Dim&);
    friend Dim min(const Dim&, const Dim&);
    friend Dim max(const Dim&, const Dim&);
    friend bool same(const Dim&, const Dim&);
    friend bool operator==(const Dim&, const Dim&);
    friend bool operator<(const Dim&, const Dim&);

private:
    friend struct shape::Expression;
    explicit Dim(const shape::Expression& e) noexcept : expression_(&e) { shape::retain(e); }
    bool is_small() const noexcept // products of two such fit
    {
        return !expression_ && constant_ == static_cast<std::int32_t>(constant_);
    }

    const shape::Expression* expression_ = nullptr; // counts its Dims; null: the constant
    std::int64_t constant_ = 0;                     // 0 beside an expression
};

inline Dim operator+(const Dim& a, const Dim& b)
{
    const auto sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(a.constant_) +
                                               static_cast<std::uint64_t>(b.constant_));
    const bool fits = ((a.constant_ ^ sum) & (b.constant_ ^ sum)) >= 0;
    return a.is_constant() && b.is_constant() && fits ? Dim(sum) : shape::add(a, b);
}

inline Dim operator-(const Dim& a, const Dim& b)
{
    const auto difference = static_cast<std::int64_t>(static_cast<std::uint64_t>(a.constant_) -
                                                      static_cast<std::uint64_t>(b.constant_));
    const bool fits = ((a.constant_ ^ b.constant_) & (a.constant_ ^ difference)) >= 0;
    return a.is_constant() && b.is_constant() && fits ? Dim(difference) : shape::subtract(a, b);
}

inline Dim operator*(const Dim& a, const Dim& b)
{
    return a.is_small() && b.is_small() ? Dim(a.constant_ * b.constant_) : shape::multiply(a, b);
}

// Toward minus infinity.  A divisor of 0 throws, an expression's at evaluation; where a quotient simplifies
// (b * 12 over b is 12) the divisor is taken not to be 0.
inline Dim floor_div(const Dim& a, const Dim& b)
{
    if (!a.is_constant() || !b.is_constant() || b.constant_ <= 0) return shape::divide_floor(a, b);
    return a.constant_ / b.constant_ - (a.constant_ % b.constant_ < 0 ? 1 : 0);
}

inline Dim min(const Dim& a, const Dim& b)
{
    if (!a.is_constant() || !b.is_constant()) return shape::minimum(a, b);
    return a.constant_ < b.constant_ ? a.constant_ : b.constant_;
}

inline Dim max(const Dim& a, const Dim& b)
{
    if (!a.is_constant() || !b.is_constant()) return shape::maximum(a, b);
    return a.constant_ < b.constant_ ? b.constant_ : a.constant_;
}

// Whether they are the same expression, and so equal for all values of the symbols.  Never throws; false says
// only that this is not known.
inline bool same(const Dim& a, const Dim& b)
{
    return a.expression_ == b.expression_ ? a.constant_ == b.constant_ : shape::same_expression(a, b);
}

// Comparisons decide what holds, or fails, for all values that the symbols can have by their SymbolOptions.  They throw
// Error(state) where the values decide: a recorded function runs once, so a branch on such a size would be taken
// for all calls.  same(), is_constant(), at_least() and at_most() ask what is known, and never throw.
inline bool operator==(const Dim& a, const Dim& b)
{
    return a.expression_ == b.expression_ ? a.constant_ == b.constant_ : shape::decided_equal(a, b);
}

inline bool operator<(const Dim& a, const Dim& b)
{
    return a.is_constant() && b.is_constant() ? a.constant_ < b.constant_ : shape::decided_less(a, b);
}

inline bool operator>(const Dim& a, const Dim& b) { return b < a; }
inline bool operator<=(const Dim& a, const Dim& b) { return !(b < a); }
inline bool operator>=(const Dim& a, const Dim& b) { return !(a < b); }

inline Dim operator/(const Dim& a, const Dim& b) { return floor_div(a, b); }
Dim ceil_div(const Dim& a, const Dim& b);   // of a divisor above 0
Dim round_up(const Dim& a, std::int64_t n); // to a multiple of n
Dim mod(const Dim& a, const Dim& b);        // a - b * floor_div(a, b)
inline Dim operator%(const Dim& a, const Dim& b) { return mod(a, b); }

// Beside an integer a size is a Dim again, and / and % round down; beside a floating number it is a number, so a
// symbol throws Error(state).
namespace shape {
template <Number N> using Beside = std::conditional_t<std::is_integral_v<N>, Dim, N>;
}
#define REPRISE_WITH_NUMBER(op)                                                                              \
    template <shape::Number N> auto operator op(const Dim& a, N b)                                           \
    {                                                                                                        \
        return static_cast<const shape::Beside<N>&>(a) op static_cast<const shape::Beside<N>&>(b);           \
    }                                                                                                        \
    template <shape::Number N> auto operator op(N a, const Dim& b)                                           \
    {                                                                                                        \
        return static_cast<const shape::Beside<N>&>(a) op static_cast<const shape::Beside<N>&>(b);           \
    }
REPRISE_WITH_NUMBER(+)
REPRISE_WITH_NUMBER(-)
REPRISE_WITH_NUMBER(*)
REPRISE_WITH_NUMBER(/)
REPRISE_WITH_NUMBER(%)
REPRISE_WITH_NUMBER(<)
REPRISE_WITH_NUMBER(<=)
REPRISE_WITH_NUMBER(>)
REPRISE_WITH_NUMBER(>=)
#undef REPRISE_WITH_NUMBER
template <shape::Number N> bool operator==(const Dim& a, N b)
{
    return static_cast<const shape::Beside<N>&>(a) == static_cast<const shape::Beside<N>&>(b);
}

inline Dim& operator+=(Dim& a, const Dim& b) { return a = a + b; }
inline Dim& operator-=(Dim& a, const Dim& b) { return a = a - b; }
inline Dim& operator*=(Dim& a, const Dim& b) { return a = a * b; }
inline Dim& operator/=(Dim& a, const Dim& b) { return a = a / b; }
inline Dim& operator%=(Dim& a, const Dim& b) { return a = a % b; }
inline Dim& operator++(Dim& a) { return a = a + 1; }
inline Dim& operator--(Dim& a) { return a = a - 1; }
inline Dim operator++(Dim& a, int) { return std::exchange(a, a + 1); }
inline Dim operator--(Dim& a, int) { return std::exchange(a, a - 1); }
inline Dim operator-(const Dim& a) { return Dim(0) - a; }
std::ostream& operator<<(std::ostream&, const Dim&);

// What is known of a symbol before any call: shape rules and the choice of kernels build on it, and each call
// is checked against it.
struct SymbolOptions {
    std::int64_t min = 0;
    std::int64_t max = std::numeric_limits<std::int64_t>::max();
    std::int64_t multiple_of = 1;
};
// A new symbol, a size known at each call only.  Two symbols of one name are different.  Throws
// Error(argument) for bounds that no size is within.
Dim symbol(const std::string& name, const SymbolOptions& = {});

using DimVector = Few<Dim, 4>;
// The sizes of a tensor, outermost first.
using Shape = DimVector;
std::string to_string(const Shape&);   // "[batch, 1, 28, 28]"
bool same(const Shape&, const Shape&); // size by size, as same() of two sizes
// Throws Error(state) where the values of symbols decide, as the comparison of two sizes does.
bool operator==(const Shape&, const Shape&);
// Aligned at the last dimension, sizes are equal or one of them is the constant 1; a symbol never broadcasts as
// if it were 1.  What can't be proved is a condition of each call while a program is recorded, else Error(shape).
Shape broadcast_shapes(const Shape&, const Shape&);

} // namespace reprise

// Keys of unordered containers are compared by same().
template <> struct std::hash<reprise::Dim> {
    std::size_t operator()(const reprise::Dim& dim) const { return dim.hash(); }
};
template <> struct std::equal_to<reprise::Dim> {
    bool operator()(const reprise::Dim& a, const reprise::Dim& b) const { return same(a, b); }
};
