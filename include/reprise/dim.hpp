// Symbolic sizes.  A Dim is an integer or an expression over named symbols, kept in a canonical form, so
// that equal expressions compare equal whatever way they were built.  Constants allocate nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <limits>
#include <string>
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
bool equal(const Dim&, const Dim&);
void retain(const Expression&) noexcept;
void release(const Expression&) noexcept;
[[noreturn]] void fail_not_constant(const Dim&);
[[noreturn]] void fail_too_large(unsigned long long value);
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
    friend bool operator==(const Dim&, const Dim&);

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

// Structural, so equal for all values.  False says only that no equality could be proved.
inline bool operator==(const Dim& a, const Dim& b)
{
    return a.expression_ == b.expression_ ? a.constant_ == b.constant_ : shape::equal(a, b);
}

inline bool operator!=(const Dim& a, const Dim& b) { return !(a == b); }
inline Dim& operator+=(Dim& a, const Dim& b) { return a = a + b; }
inline Dim& operator-=(Dim& a, const Dim& b) { return a = a - b; }
inline Dim& operator*=(Dim& a, const Dim& b) { return a = a * b; }
inline Dim operator-(const Dim& a) { return Dim(0) - a; }
Dim ceil_div(const Dim& a, const Dim& b);   // of a divisor above 0
Dim round_up(const Dim& a, std::int64_t n); // to a multiple of n
Dim mod(const Dim& a, const Dim& b);        // a - b * floor_div(a, b)
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
std::string to_string(const Shape&); // "[batch, 1, 28, 28]"
// Aligned at the last dimension, sizes are equal or one of them is the constant 1; a symbol never broadcasts as
// if it were 1.  What can't be proved is a condition of each call while a program is recorded, else Error(shape).
Shape broadcast_shapes(const Shape&, const Shape&);

} // namespace reprise

template <> struct std::hash<reprise::Dim> {
    std::size_t operator()(const reprise::Dim& dim) const { return dim.hash(); }
};
