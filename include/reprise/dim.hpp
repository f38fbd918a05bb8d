// Sizes, which may be symbolic.  A Dim is an integer or an expression over named symbols.  Expressions are stored in a
// canonical form, so equal expressions compare equal however they were built.  Constants allocate no memory.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace reprise {

class Dim;

namespace shape {
struct Expression; // src/shape/expression.hpp

// Functions in src/shape/ that the operators below call: for expressions, and for constants that may overflow.
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

// A size: a 64-bit integer, or an expression whose value is known only when a program is called.  Arithmetic that
// overflows 64 bits throws Error(argument).
class Dim {
public:
    Dim(int value) : constant_(value) {}       // a constant
    Dim(long value) : constant_(value) {}      // a constant
    Dim(long long value) : constant_(value) {} // a constant
    Dim(unsigned value) : constant_(value) {}  // a constant
    // A constant of at most 2^63 - 1, else Error(argument).
    Dim(unsigned long value) : Dim(static_cast<unsigned long long>(value)) {}
    // A constant of at most 2^63 - 1, else Error(argument).
    Dim(unsigned long long value) : constant_(static_cast<std::int64_t>(value))
    {
        if (constant_ < 0) shape::fail_too_large(value);
    }
    Dim() = default; // 0
    // A copy.
    Dim(const Dim& other) noexcept : expression_(other.expression_), constant_(other.constant_)
    {
        if (expression_) shape::retain(*expression_);
    }
    // Moves the other's expression into this size; the other becomes a constant.
    Dim(Dim&& other) noexcept
        : expression_(std::exchange(other.expression_, nullptr)), constant_(other.constant_)
    {}
    Dim& operator=(const Dim& other) noexcept { return *this = Dim(other); } // becomes a copy
    // Swaps the two sizes.
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

    bool is_constant() const noexcept { return !expression_; } // whether it is an integer
    bool is_symbol() const; // whether it is a single symbol as symbol() returns it
    // Returns the integer.  Error(state) for an expression, whose value is known only at the call.
    std::int64_t value() const
    {
        if (expression_) shape::fail_not_constant(*this);
        return constant_;
    }
    // Converts value() implicitly, so that a size can be used like an integer: int n = x.size(0).  Error(state) as for
    // value(), Error(argument) if the integer type is too small.  As a bool: whether it is not 0.
    template <shape::Integer I> operator I() const // NOLINT(google-explicit-constructor)
    {
        const std::int64_t number = value();
        if constexpr (std::is_same_v<I, bool>) return number != 0;
        const I narrowed = static_cast<I>(number);
        if (static_cast<std::int64_t>(narrowed) != number || (narrowed < I{}) != (number < 0))
            shape::fail_narrow(number, sizeof(I));
        return narrowed;
    }
    // Converts value() to a floating-point number: std::sqrt(x.size(-1)).
    operator double() const { return static_cast<double>(value()); } // NOLINT(google-explicit-constructor)
    // Returns the size for given values of the symbols (by id).  Error(argument) if `values` returns a negative number,
    // which means that a symbol has no value, or one that its SymbolOptions exclude, and if a divisor is 0.
    std::int64_t evaluate(const std::function<std::int64_t(std::uint32_t symbol)>& values) const;

    // Whether it is provably a multiple of n for all values of the symbols.  Error(argument) for n = 0.
    bool divisible_by(std::int64_t n) const;
    bool at_least(std::int64_t n) const;        // whether it is provably >= n for all values
    bool at_most(std::int64_t n) const;         // whether it is provably <= n for all values
    std::vector<std::uint32_t> symbols() const; // the ids of its symbols, ascending, unique
    std::string text() const;                   // as text: "batch * 196", "floor(seq + 7, 8)"
    std::size_t hash() const;                   // equal for sizes that are same()

    const shape::Expression* expression() const noexcept { return expression_; } // null for a constant

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
    bool is_small() const noexcept // whether it fits 32 bits, so that products fit 64
    {
        return !expression_ && constant_ == static_cast<std::int32_t>(constant_);
    }

    const shape::Expression* expression_ = nullptr; // reference-counted; null for a constant
    std::int64_t constant_ = 0;                     // 0 if there is an expression
};

// The sum.
inline Dim operator+(const Dim& a, const Dim& b)
{
    const auto sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(a.constant_) +
                                               static_cast<std::uint64_t>(b.constant_));
    const bool fits = ((a.constant_ ^ sum) & (b.constant_ ^ sum)) >= 0;
    return a.is_constant() && b.is_constant() && fits ? Dim(sum) : shape::add(a, b);
}

// The difference.
inline Dim operator-(const Dim& a, const Dim& b)
{
    const auto difference = static_cast<std::int64_t>(static_cast<std::uint64_t>(a.constant_) -
                                                      static_cast<std::uint64_t>(b.constant_));
    const bool fits = ((a.constant_ ^ b.constant_) & (a.constant_ ^ difference)) >= 0;
    return a.is_constant() && b.is_constant() && fits ? Dim(difference) : shape::subtract(a, b);
}

// The product.
inline Dim operator*(const Dim& a, const Dim& b)
{
    return a.is_small() && b.is_small() ? Dim(a.constant_ * b.constant_) : shape::multiply(a, b);
}

// The quotient, rounded down.  Error(argument) for a divisor of 0; for an expression, when it is evaluated.  If a
// quotient simplifies (b * 12 / b is 12), the divisor is assumed not to be 0.
inline Dim floor_div(const Dim& a, const Dim& b)
{
    if (!a.is_constant() || !b.is_constant() || b.constant_ <= 0) return shape::divide_floor(a, b);
    return a.constant_ / b.constant_ - (a.constant_ % b.constant_ < 0 ? 1 : 0);
}

// The minimum.
inline Dim min(const Dim& a, const Dim& b)
{
    if (!a.is_constant() || !b.is_constant()) return shape::minimum(a, b);
    return a.constant_ < b.constant_ ? a.constant_ : b.constant_;
}

// The maximum.
inline Dim max(const Dim& a, const Dim& b)
{
    if (!a.is_constant() || !b.is_constant()) return shape::maximum(a, b);
    return a.constant_ < b.constant_ ? b.constant_ : a.constant_;
}

// Whether both are the same expression, and thus equal for all values of the symbols.  Never throws.  A result of false
// does not mean that they differ.
inline bool same(const Dim& a, const Dim& b)
{
    return a.expression_ == b.expression_ ? a.constant_ == b.constant_ : shape::same_expression(a, b);
}

// Whether both are equal.  This and the comparisons below return a result that holds for all values that the
// SymbolOptions allow, if it can be proved.  Otherwise they throw Error(state): a recorded function runs once, so a
// branch on such a size would be taken for all calls.  same(), is_constant(), at_least() and at_most() test what can
// be proved and never throw.
inline bool operator==(const Dim& a, const Dim& b)
{
    return a.expression_ == b.expression_ ? a.constant_ == b.constant_ : shape::decided_equal(a, b);
}

// Whether a is less than b.
inline bool operator<(const Dim& a, const Dim& b)
{
    return a.is_constant() && b.is_constant() ? a.constant_ < b.constant_ : shape::decided_less(a, b);
}

inline bool operator>(const Dim& a, const Dim& b) { return b < a; }     // whether a is greater than b
inline bool operator<=(const Dim& a, const Dim& b) { return !(b < a); } // whether a is at most b
inline bool operator>=(const Dim& a, const Dim& b) { return !(a < b); } // whether a is at least b

inline Dim operator/(const Dim& a, const Dim& b) { return floor_div(a, b); } // rounds down
Dim ceil_div(const Dim& a, const Dim& b);   // the quotient rounded up; the divisor is above 0
Dim round_up(const Dim& a, std::int64_t n); // the next multiple of n; Error(argument) for n below 1
Dim mod(const Dim& a, const Dim& b);        // a - b * floor_div(a, b)
inline Dim operator%(const Dim& a, const Dim& b) { return mod(a, b); } // mod()

namespace shape {
// The type to which a size is converted in arithmetic and comparisons with a number.  With an integer it stays a Dim,
// and / and % round down.  With a floating-point number it is converted to that type, so a symbol throws
// Error(state).
template <Number N> using Beside = std::conditional_t<std::is_integral_v<N>, Dim, N>;
}
// Operators of a size and a number, on either side.  shape::Beside is the type to which the size is converted.
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
// Whether a size equals a number.
template <shape::Number N> bool operator==(const Dim& a, N b)
{
    return static_cast<const shape::Beside<N>&>(a) == static_cast<const shape::Beside<N>&>(b);
}

// Compound assignment of a size to a number, integer or floating-point: total += x.size(0).
#define REPRISE_TO_NUMBER(op)                                                                                \
    template <shape::Number N> N& operator op##=(N& a, const Dim& b)                                         \
    {                                                                                                        \
        return a = static_cast<N>(static_cast<const shape::Beside<N>&>(a) op b);                             \
    }
REPRISE_TO_NUMBER(+)
REPRISE_TO_NUMBER(-)
REPRISE_TO_NUMBER(*)
REPRISE_TO_NUMBER(/)
#undef REPRISE_TO_NUMBER

inline Dim& operator+=(Dim& a, const Dim& b) { return a = a + b; }     // adds b
inline Dim& operator-=(Dim& a, const Dim& b) { return a = a - b; }     // subtracts b
inline Dim& operator*=(Dim& a, const Dim& b) { return a = a * b; }     // multiplies by b
inline Dim& operator/=(Dim& a, const Dim& b) { return a = a / b; }     // divides by b, rounding down
inline Dim& operator%=(Dim& a, const Dim& b) { return a = a % b; }     // becomes mod(a, b)
inline Dim& operator++(Dim& a) { return a = a + 1; }                   // adds 1
inline Dim& operator--(Dim& a) { return a = a - 1; }                   // subtracts 1
inline Dim operator++(Dim& a, int) { return std::exchange(a, a + 1); } // adds 1; returns the old size
inline Dim operator--(Dim& a, int) { return std::exchange(a, a - 1); } // subtracts 1; returns the old size
inline Dim operator-(const Dim& a) { return Dim(0) - a; }              // the negated size
std::ostream& operator<<(std::ostream&, const Dim&);                   // prints text()

// Constraints on a symbol.  Shape rules and the choice of kernels rely on them, and each call is checked against them.
struct SymbolOptions {
    std::int64_t min = 0;                                        // the minimum, at least 0
    std::int64_t max = std::numeric_limits<std::int64_t>::max(); // the maximum
    std::int64_t multiple_of = 1;                                // values are multiples of this, at least 1
};
// Returns a new symbol: a size that is known only at each call.  Two symbols of the same name are different.
// Error(argument) if no size satisfies the options.
Dim symbol(const std::string& name, const SymbolOptions& = {});

// Integers of C++ (not bool), or Dim.
template <class T>
concept Whole = (std::integral<T> && !std::same_as<T, bool>) || std::same_as<T, Dim>;

// The sizes of a tensor, outermost first: a vector of Dim that can also be constructed from integers.  Its == compares
// sizes (below).
class Shape : public std::vector<Dim> {
public:
    Shape() = default; // no dimensions
    // n sizes of 0.  A template, as braces are sizes: Shape({6}) has one.
    template <std::integral N> explicit Shape(N n) : vector(static_cast<std::size_t>(n)) {}
    Shape(std::size_t n, const Dim& size) : vector(n, size) {}  // n copies of the size
    Shape(std::initializer_list<Dim> sizes) : vector(sizes) {}  // the sizes in the braces
    Shape(std::vector<Dim> sizes) : vector(std::move(sizes)) {} // the sizes of the vector
    // The sizes of a range of Dim or integers.
    template <std::forward_iterator From> Shape(From from, From to) : vector(from, to) {}
    // The sizes of a vector of integers.
    template <std::convertible_to<Dim> From>
    requires(!std::same_as<From, Dim>) Shape(const std::vector<From>& sizes)
        : vector(sizes.begin(), sizes.end())
    {}

    // Returns the sizes as a std::vector, by default of 64-bit integers.  A symbolic size throws Error(state).
    template <class To = std::int64_t>
    requires std::convertible_to<const Dim&, To> std::vector<To> vec()
    const { return std::vector<To>(begin(), end()); }
};

using IntArrayRef = Shape;             // libtorch's name
using DimVector = Shape;               // for other lists of Dim: strides, paddings, repetitions
std::string to_string(const Shape&);   // as text: "[batch, 1, 28, 28]"
bool same(const Shape&, const Shape&); // whether the ranks are equal and all sizes same()
// Whether both have equal sizes.  Error(state) if that depends on the values of symbols, as for two sizes.
bool operator==(const Shape&, const Shape&);
// The same for a vector of sizes.
inline bool operator==(const Shape& a, const std::vector<Dim>& b) { return a == Shape(b); }
// The shape to which both broadcast: aligned at the last dimension, sizes are equal or one of them is the
// constant 1; a symbol never counts as 1.  While a program is recorded, an equality that can't be proved becomes a
// condition that each call checks; otherwise it is an Error(shape).
Shape broadcast_shapes(const Shape&, const Shape&);

} // namespace reprise

// Unordered containers hash with hash() and compare keys with same().
template <> struct std::hash<reprise::Dim> {
    std::size_t operator()(const reprise::Dim& dim) const { return dim.hash(); }
};
template <> struct std::equal_to<reprise::Dim> {
    bool operator()(const reprise::Dim& a, const reprise::Dim& b) const { return same(a, b); }
};
