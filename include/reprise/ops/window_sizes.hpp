// Sizes of windows over images of N dimensions.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <reprise/error.hpp>

namespace reprise {

// One number for each dimension of an image, outermost first: 3 for all of them, or {3, 5}.
template <std::size_t N> class WindowSizes {
public:
    WindowSizes(std::int64_t all) { values_.fill(all); }
    template <std::convertible_to<std::int64_t>... More>
    requires(sizeof...(More) + 2 == N) WindowSizes(std::int64_t first, std::int64_t second, More... more)
        : values_{first, second, more...}
    {}
    WindowSizes(const std::array<std::int64_t, N>& values) : values_(values) {}

    std::int64_t& operator[](std::size_t i) { return values_[i]; }
    std::int64_t operator[](std::size_t i) const { return values_[i]; }
    auto begin() const { return values_.begin(); }
    auto end() const { return values_.end(); }
    const std::array<std::int64_t, N>& array() const { return values_; }
    friend bool operator==(const WindowSizes&, const WindowSizes&) = default;

private:
    std::array<std::int64_t, N> values_;
};

// Zeros on both sides of each dimension: numbers, or "valid" (none), or "same", with which the output is as large
// as the input: strides are 1 then, and where the zeros are odd in number there is one more behind.
template <std::size_t N> class WindowPadding : public WindowSizes<N> {
public:
    using WindowSizes<N>::WindowSizes;
    WindowPadding(const WindowSizes<N>& sizes) : WindowSizes<N>(sizes) {}
    template <class Text>
    requires std::convertible_to<Text, std::string_view> WindowPadding(const Text& text)
        : WindowSizes<N>(0), same_(std::string_view(text) == "same")
    {
        if (const std::string_view name = text; name != "same" && name != "valid")
            detail::fail(ErrorKind::argument, "conv", "The padding (", name,
                         ") must be numbers, \"same\" or \"valid\".");
    }
    bool is_same() const { return same_; }

private:
    bool same_ = false;
};

} // namespace reprise
