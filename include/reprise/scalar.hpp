// A number, as Tensor::item() returns it.
#pragma once
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <type_traits>

namespace reprise {

namespace detail {
[[noreturn]] void no_place(double value, bool is_signed, std::size_t bytes); // throws Error(argument)
}

// The element of a tensor: a floating-point number, an integer (exact to 64 bits) or a bool.  It converts to
// double, so that it can be used as a number.
class Scalar {
public:
    // The kind of a number: a bool, an integer, or a floating-point number.
    enum class Kind { logical, whole, floating };

    Scalar(double value = 0) : number_(value) {} // a floating-point number
    // An integer or a bool.  Throws Error(argument) for an integer above 2^63 - 1.
    template <std::integral T> Scalar(T value)
        : kind_(std::same_as<T, bool> ? Kind::logical : Kind::whole), number_(static_cast<double>(value)),
          whole_(static_cast<std::int64_t>(value))
    {
        if (std::is_unsigned_v<T> && whole_ < 0) detail::no_place(number_, true, sizeof(std::int64_t));
    }

    // Converts to double, rounded to 53 bits; to<std::int64_t>() is exact for larger integers too.
    operator double() const { return number_; } // NOLINT(google-explicit-constructor)
    // Returns the number as T, truncating floating-point numbers toward zero.  Throws Error(argument) if it
    // is out of the range of an integer type T, and for NaN as an integer.
    template <class T> T to() const
    {
        static_assert(std::is_arithmetic_v<T>);
        if constexpr (std::same_as<T, bool>) return number_ != 0;
        else if (std::is_floating_point_v<T> || kind_ == Kind::floating) {
            if constexpr (!std::is_floating_point_v<T>) {
                const double whole = std::trunc(number_);
                const double beyond = std::ldexp(1.0, 8 * sizeof(T) - std::is_signed_v<T>);
                if (!(whole >= (std::is_signed_v<T> ? -beyond : 0) && whole < beyond))
                    detail::no_place(number_, std::is_signed_v<T>, sizeof(T));
            }
            return kind_ == Kind::floating ? static_cast<T>(number_) : static_cast<T>(whole_);
        } else {
            const T narrowed = static_cast<T>(whole_);
            if (static_cast<std::int64_t>(narrowed) != whole_ || (narrowed < T{}) != (whole_ < 0))
                detail::no_place(number_, std::is_signed_v<T>, sizeof(T));
            return narrowed;
        }
    }
    double toDouble() const { return to<double>(); }                 // as double
    float toFloat() const { return to<float>(); }                    // as float
    int toInt() const { return to<int>(); }                          // as int; errors as of to()
    std::int64_t toLong() const { return to<std::int64_t>(); }       // as std::int64_t; errors as of to()
    bool toBool() const { return to<bool>(); }                       // whether it is not 0
    Kind kind() const { return kind_; }                              // the kind of the number
    bool isFloatingPoint() const { return kind_ == Kind::floating; } // whether it is a floating-point number
    // Returns whether it is an integer, or, with includeBool, a bool.
    bool isIntegral(bool includeBool = false) const
    {
        return kind_ == Kind::whole || (includeBool && kind_ == Kind::logical);
    }
    bool isBoolean() const { return kind_ == Kind::logical; } // whether it is a bool

private:
    Kind kind_ = Kind::floating;
    double number_ = 0;
    std::int64_t whole_ = 0; // the exact value of an integer or a bool
};
std::ostream& operator<<(std::ostream&, const Scalar&); // prints the number; a bool as 0 or 1

} // namespace reprise
