// Linear maps that are the same for every plane and go along each of the last one to three dimensions by itself:
// averages of windows, interpolation, padding with elements of the tensor.
#pragma once
#include <cstdint>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise::ops {

enum class Resampling : std::uint8_t { // shaders/resample.comp has the same list
    window,                            // the average of kernel elements from o * stride - before on
    adaptive,                          // the average of one of as many parts as there are outputs
    nearest,
    nearest_exact,
    linear, // of the centres of elements
    linear_corners,
    cubic,
    cubic_corners,
    reflect, // o - before, turned around at the borders
    replicate,
    circular,
};

struct ResampleOptions {
    Resampling how;
    Shape to;                                     // sizes of the last dimensions of the result
    std::vector<std::int64_t> kernel{}, stride{}; // of `window`
    bool counts_padding = false;                  // the divisor of a window does
    std::int64_t divisor = 0;                     // of every window; 0: its number of elements
    DimVector before{};                           // of `window` and of padding; empty: none
    std::vector<float> scales{};                  // inputs an output, of interpolation; empty: by the sizes
};
// Sizes and dtype are checked by the caller.
Tensor resample(const Tensor& x, const ResampleOptions&);

} // namespace reprise::ops
