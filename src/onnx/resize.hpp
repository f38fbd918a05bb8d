// Resizing one dimension, computed on the host: which elements each element of the result is made of.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace reprise::onnx {

// How a dimension is resized (ONNX's attributes of Resize).
struct ResizeRule {
    std::string mode = "nearest"; // "nearest", "linear" or "cubic"
    std::string coordinates = "half_pixel";
    std::string nearest = "round_prefer_floor";
    double cubic_a = -0.75;
    bool exclude_outside = false, antialias = false;
    double extrapolation = 0;
};

// One dimension: from `size` elements to `out`, which is about scale * size.
struct ResizedAxis {
    std::int64_t size = 0, out = 0;
    double scale = 1;
    double start = 0, end = 1; // the region of tf_crop_and_resize, as parts of the dimension

    bool unchanged() const { return size == out && scale == 1 && start == 0 && end == 1; }
};

// The position in the input of each element of the result; NaN where it is outside of tf_crop_and_resize's input.
std::vector<double> positions(const ResizedAxis&, const ResizeRule&);
// For the mode nearest: the element that each element of the result copies.
std::vector<std::int64_t> nearest_elements(const ResizedAxis&, const ResizeRule&,
                                           const std::vector<double>& at);
// For the other modes: weights [size, out] in row-major order.
std::vector<double> weights(const ResizedAxis&, const ResizeRule&, const std::vector<double>& at);

} // namespace reprise::onnx
