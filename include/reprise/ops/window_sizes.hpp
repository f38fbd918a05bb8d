// Sizes, strides and paddings of windows over images of N dimensions.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include <reprise/dim.hpp>
#include <reprise/error.hpp>

namespace reprise {

namespace detail {
// The types of a window's sizes: integers, Dim, and types that convert to an integer, but no floating types.
template <class T>
concept CountsElements = std::convertible_to<const T&, std::int64_t> && !std::floating_point<T>;

// Returns the number.  Error(argument) for an unsigned one above 2^63 - 1, Error(state) for a Dim without a value.
template <CountsElements T> std::int64_t count_of(const T& number)
{
    if constexpr (std::unsigned_integral<T>) return Dim(number).value();
    else return number;
}

// One number of a list, of any of these types.
struct WindowNumber {
    template <CountsElements T> WindowNumber(const T& number) : value(count_of(number)) {}
    std::int64_t value;
};
} // namespace detail

// One number for each dimension of an image, outermost first: 3 for all dimensions, or {3, 5}.
template <std::size_t N> class WindowSizes {
public:
    WindowSizes(std::int64_t all) { values_.fill(all); } // the same number for each dimension
    // The same for integers of other types and for a Dim with a value.
    template <detail::CountsElements T> WindowSizes(const T& all) : WindowSizes(detail::count_of(all)) {}
    template <std::floating_point T> WindowSizes(T) = delete; // it would lose its fraction
    // One number for each of the N dimensions.
    template <detail::CountsElements First, detail::CountsElements Second, detail::CountsElements... More>
    requires(sizeof...(More) + 2 == N)
        WindowSizes(const First& first, const Second& second, const More&... more)
        : values_{detail::count_of(first), detail::count_of(second), detail::count_of(more)...}
    {}
    WindowSizes(const std::array<std::int64_t, N>& values) : values_(values) {} // the numbers of an array

    std::int64_t& operator[](std::size_t i) { return values_[i]; }       // of dimension i, unchecked
    std::int64_t operator[](std::size_t i) const { return values_[i]; }  // of dimension i, unchecked
    auto begin() const { return values_.begin(); }                       // an iterator to the first number
    auto end() const { return values_.end(); }                           // an iterator past the last number
    const std::array<std::int64_t, N>& array() const { return values_; } // all numbers
    friend bool operator==(const WindowSizes&, const WindowSizes&) = default;

private:
    std::array<std::int64_t, N> values_;
};

namespace detail {
// The sizes in a list of one number, for all dimensions, or of N numbers; else Error(argument).
template <std::size_t N> WindowSizes<N> sizes_of(std::initializer_list<WindowNumber> list)
{
    if (list.size() != 1 && list.size() != N)
        fail(ErrorKind::argument, "WindowSizes", "A list of (", list.size(),
             ") numbers does not go with windows of (", N, ") dimensions.");
    WindowSizes<N> sizes = list.begin()->value;
    for (std::size_t i = 1; i < list.size(); ++i) sizes[i] = list.begin()[i].value;
    return sizes;
}
} // namespace detail

// The distances of windows of pooling: numbers, or {} for the sizes of the windows.
template <std::size_t N> class WindowStrides : public WindowSizes<N> {
public:
    using WindowSizes<N>::WindowSizes;
    WindowStrides() : WindowSizes<N>(0) {}                                // the sizes of the windows
    WindowStrides(const WindowSizes<N>& sizes) : WindowSizes<N>(sizes) {} // the given distances
};

// Zeros on both sides of each dimension: numbers, or PyTorch's "valid" (none) or "same".  "same" makes the
// output as large as the input and needs strides of 1; where the number of zeros is odd, the extra one is at
// the end.
template <std::size_t N> class WindowPadding : public WindowSizes<N> {
public:
    using WindowSizes<N>::WindowSizes;
    WindowPadding(const WindowSizes<N>& sizes) : WindowSizes<N>(sizes) {} // the given numbers of zeros
    // "same" or "valid"; Error(argument) for another text.
    template <class Text>
    requires std::convertible_to<Text, std::string_view> WindowPadding(const Text& text)
        : WindowSizes<N>(0), same_(std::string_view(text) == "same")
    {
        if (const std::string_view name = text; name != "same" && name != "valid")
            detail::fail(ErrorKind::argument, "conv", "The padding (", name,
                         ") must be numbers, \"same\" or \"valid\".");
    }
    bool is_same() const { return same_; } // whether it was given as "same"

private:
    bool same_ = false;
};

} // namespace reprise
