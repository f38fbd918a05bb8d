// Sizes, strides and paddings of windows over images of N dimensions.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <reprise/error.hpp>

namespace reprise {

// One number for each dimension of an image, outermost first: 3 for all dimensions, or {3, 5}.
template <std::size_t N> class WindowSizes {
public:
    WindowSizes(std::int64_t all) { values_.fill(all); } // the same number for each dimension
    // One number for each of the N dimensions.
    template <std::convertible_to<std::int64_t>... More>
    requires(sizeof...(More) + 2 == N) WindowSizes(std::int64_t first, std::int64_t second, More... more)
        : values_{first, second, more...}
    {}
    WindowSizes(const std::array<std::int64_t, N>& values) : values_(values) {} // the numbers of an array

    std::int64_t& operator[](std::size_t i) { return values_[i]; }       // of dimension i, unchecked
    std::int64_t operator[](std::size_t i) const { return values_[i]; }  // of dimension i, unchecked
    auto begin() const { return values_.begin(); }                       // an iterator to the first number
    auto end() const { return values_.end(); }                           // an iterator behind the last number
    const std::array<std::int64_t, N>& array() const { return values_; } // all numbers
    friend bool operator==(const WindowSizes&, const WindowSizes&) = default;

private:
    std::array<std::int64_t, N> values_;
};

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
