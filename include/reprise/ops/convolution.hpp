// Convolution.
#pragma once
#include <array>
#include <cstdint>

#include <reprise/tensor.hpp>

namespace reprise {

struct Conv2dOptions {
    std::array<std::int64_t, 2> stride = {1, 1};
    std::array<std::int64_t, 2> padding = {0, 0};
};
// x [N, Ci, H, W], weight [Co, Ci, kh, kw], bias [Co] -> [N, Co, (H + 2p - kh) / s + 1, ...]
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Conv2dOptions& = {});

} // namespace reprise
