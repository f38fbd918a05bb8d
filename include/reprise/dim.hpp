// Symbolic sizes.  A Dim is an integer or an expression over named symbols, kept in a canonical form, so that
// equal expressions compare equal whatever way they were built.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace reprise {

namespace shape {
struct Expression; // src/shape/expression.hpp
struct Symbol;
}

class Dim {
public:
    Dim(int value) : constant_(value) {}
    Dim(long value) : constant_(value) {}
    Dim(long long value) : constant_(value) {}
    Dim(unsigned value) : constant_(value) {}
    Dim(unsigned long value);      // throws Error(argument) above 2^63 - 1
    Dim(unsigned long long value);
    Dim() = default;

    bool is_constant() const noexcept { return !expression_; }
    // The number.  Throws Error(state) for an expression: its value is known at the call only.
    std::int64_t value() const;
    // The number for given symbol values (by symbol id); throws Error(argument) where one is missing.
    std::int64_t evaluate(const std::function<std::int64_t(std::uint32_t symbol)>& values) const;

    bool divisible_by(std::int64_t n) const; // provably, for all values of the symbols
    bool at_least(std::int64_t n) const;     // provably
    std::vector<std::uint32_t> symbols() const; // ids, ascending, each once
    std::string text() const;                // "batch * 196", "floor(seq + 7, 8)"
    std::size_t hash() const;

    const shape::Expression* expression() const noexcept { return expression_.get(); }

    friend Dim operator+(const Dim&, const Dim&);
    friend Dim operator-(const Dim&, const Dim&);
    friend Dim operator*(const Dim&, const Dim&);
    friend Dim floor_div(const Dim&, const Dim&); // toward minus infinity; a divisor of 0 throws at evaluation
    friend Dim min(const Dim&, const Dim&);
    friend Dim max(const Dim&, const Dim&);
    friend bool operator==(const Dim&, const Dim&); // structural: equal for all values
    friend std::ostream& operator<<(std::ostream&, const Dim&);

private:
    friend struct shape::Expression;
    friend Dim symbol(const std::string&);
    explicit Dim(std::shared_ptr<const shape::Expression> e) : expression_(std::move(e)) {}
    std::shared_ptr<const shape::Expression> expression_; // null: the constant
    std::int64_t constant_ = 0;
};

inline bool operator!=(const Dim& a, const Dim& b) { return !(a == b); }
inline Dim& operator+=(Dim& a, const Dim& b) { return a = a + b; }
inline Dim& operator*=(Dim& a, const Dim& b) { return a = a * b; }
inline Dim operator-(const Dim& a) { return Dim(0) - a; }
Dim ceil_div(const Dim& a, const Dim& b);
Dim round_up(const Dim& a, std::int64_t n); // to a multiple of n
Dim mod(const Dim& a, const Dim& b);        // a - b * floor_div(a, b)

// A new symbol, a size known at each call only; at least 0.  Two symbols of one name are different.
Dim symbol(const std::string& name);

// The sizes of a tensor, outermost first.
using Shape = std::vector<Dim>;
std::string to_string(const Shape&); // "[batch, 1, 28, 28]"

} // namespace reprise
