// Options of the ops that are methods of Tensor, and the choice of a reduction.  They have a separate header
// because Tensor is incomplete where it declares its methods.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <reprise/choice.hpp>
#include <reprise/dim.hpp>

namespace reprise {

// How div() rounds the quotient: down, or toward zero.
enum class Rounding { floor, trunc };
// PyTorch's names of them, for Choice.
inline constexpr std::array<std::pair<std::string_view, Rounding>, 2> names_of_choices(Rounding)
{
    return {{{"floor", Rounding::floor}, {"trunc", Rounding::trunc}}};
}
// How gelu() computes the normal distribution: exactly by erf, or approximately by tanh.
enum class GeluApproximation { none, tanh };
// PyTorch's names of them, for Choice.
inline constexpr std::array<std::pair<std::string_view, GeluApproximation>, 2> names_of_choices(
    GeluApproximation)
{
    return {{{"none", GeluApproximation::none}, {"tanh", GeluApproximation::tanh}}};
}

// How a loss is reduced: every element's loss, their mean, their sum, or (kl_div() only) the sum divided by
// N.  A loss throws Error(argument) for batchmean where it is not kl_div().
enum class Reduction {
    none,
    mean,
    sum,
    batchmean,
    None = none, // libtorch's spelling, as of the two below
    Mean = mean,
    Sum = sum
};
// PyTorch's names of them, for Choice.
inline constexpr std::array<std::pair<std::string_view, Reduction>, 4> names_of_choices(Reduction)
{
    return {{{"none", Reduction::none},
             {"mean", Reduction::mean},
             {"sum", Reduction::sum},
             {"batchmean", Reduction::batchmean}}};
}

// A range of indices as in Python: start, start + step, ... before end.  A negative number counts from the
// end of the dimension; bounds beyond the dimension are clamped to it.
struct SliceRange {
    Dim start = 0;                         // the first index
    std::optional<Dim> end = std::nullopt; // after the last index; nullopt: the dimension's size
    std::int64_t step = 1;                 // at least 1
};

// Options of var() and std(), which divide the sum of squared differences from the mean by n - correction.
struct VarOptions {
    std::int64_t correction = 1; // 1 gives the unbiased variance, 0 the biased one
    bool keepdim = false;        // whether reduced dimensions stay with size 1
};

// Options of cumsum() and cumprod().
struct ScanOptions {
    bool exclusive = false; // leave out the element itself: the first sum is 0, the first product 1
    bool reverse = false;   // accumulate from the end to the start
};

// How quantile() combines the two sorted elements around position q (n - 1): by linear interpolation, the
// lower one, the higher one, the nearest one (halves go to the even position), or the mean of both.
enum class QuantileInterpolation { linear, lower, higher, nearest, midpoint };
// PyTorch's names of them, for Choice.
inline constexpr std::array<std::pair<std::string_view, QuantileInterpolation>, 5> names_of_choices(
    QuantileInterpolation)
{
    return {{{"linear", QuantileInterpolation::linear},
             {"lower", QuantileInterpolation::lower},
             {"higher", QuantileInterpolation::higher},
             {"nearest", QuantileInterpolation::nearest},
             {"midpoint", QuantileInterpolation::midpoint}}};
}

// Options of topk().
struct TopkOptions {
    std::int64_t dim = -1; // the dimension to search along
    bool largest = true;   // the largest elements; false: the smallest
    bool sorted = true;    // has no effect: the result is always sorted
};

} // namespace reprise
