// Sizes of windows.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace reprise::nn {

// Height and width: 3 or {3, 5}.
struct Size2d {
    Size2d(std::int64_t both) : height(both), width(both) {}
    Size2d(std::int64_t h, std::int64_t w) : height(h), width(w) {}
    std::array<std::int64_t, 2> array() const { return {height, width}; }
    std::int64_t height, width;
};

// One for each of N dimensions: 3 or {3, 5, 3}.
template <std::size_t N> struct Sizes {
    Sizes(std::int64_t all) { values.fill(all); }
    template <class... Integers>
    requires(N > 1 && sizeof...(Integers) == N) Sizes(Integers... each)
        : values{static_cast<std::int64_t>(each)...}
    {}
    const std::array<std::int64_t, N>& array() const { return values; }
    std::array<std::int64_t, N> values{};
};

} // namespace reprise::nn
