// Sizes of windows.
#pragma once
#include <array>
#include <cstdint>

namespace reprise::nn {

// Height and width: 3 or {3, 5}.
struct Size2d {
    Size2d(std::int64_t both) : height(both), width(both) {}
    Size2d(std::int64_t h, std::int64_t w) : height(h), width(w) {}
    std::array<std::int64_t, 2> array() const { return {height, width}; }
    std::int64_t height, width;
};

} // namespace reprise::nn
