// Options of the ops that are methods of Tensor, which is not complete where these are declared.
#pragma once
#include <cstdint>
#include <optional>

#include <reprise/dim.hpp>

namespace reprise {

enum class Rounding { floor, trunc };        // of div()
enum class GeluApproximation { none, tanh }; // of gelu()

// From start to end by steps, as in Python: negative numbers count from the end, what lies beyond is cut.
struct SliceRange {
    Dim start = 0;
    std::optional<Dim> end = std::nullopt;
    std::int64_t step = 1;
};

// The squares of the distances from the mean are divided by n - correction.
struct VarOptions {
    std::int64_t correction = 1;
    bool keepdim = false;
};

// Of cumsum and cumprod.
struct ScanOptions {
    bool exclusive = false; // without the element itself, so that the first is 0, or 1
    bool reverse = false;   // from the end on
};

// Of quantile(), between the two elements in order that lie around position q (n - 1): on the line between them, the lower
// one, the higher one, the nearest one (halves to even), or their mean.
enum class QuantileInterpolation { linear, lower, higher, nearest, midpoint };

struct TopkOptions {
    std::int64_t dim = -1;
    bool largest = true;
    bool sorted = true; // they are in any case
};

} // namespace reprise
