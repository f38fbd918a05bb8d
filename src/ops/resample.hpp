// Linear maps that are the same for every plane and separable over the last one to three dimensions: average pooling,
// interpolation, and padding with elements of the tensor.
#pragma once
#include <cstdint>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise::ops {

enum class Resampling : std::uint8_t { // shaders/resample.comp has the same list
    window,                            // the average of `kernel` elements, starting at o * stride - before
    adaptive,                          // the average of one part per output
    nearest,
    nearest_exact,
    linear, // between the centres of elements
    linear_corners,
    cubic,
    cubic_corners,
    reflect, // o - before, mirrored at the borders
    replicate,
    circular,
};

struct ResampleOptions {
    Resampling how;
    Shape to;                                     // sizes of the last dimensions of the result
    std::vector<std::int64_t> kernel{}, stride{}; // for `window`
    bool counts_padding = false;                  // whether the divisor of a window counts padding
    std::int64_t divisor = 0;                     // for every window; 0: its number of elements
    DimVector before{};          // padding at the start, for `window` and padding; empty: none
    std::vector<float> scales{}; // inputs per output, for interpolation; empty: by the sizes
};
// The caller checks sizes and dtype.
Tensor resample(const Tensor& x, const ResampleOptions&);

} // namespace reprise::ops
