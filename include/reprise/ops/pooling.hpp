// Pooling.
#pragma once
#include <array>
#include <cstdint>

#include <reprise/tensor.hpp>

namespace reprise {

struct Pool2dOptions {
    std::array<std::int64_t, 2> kernel_size = {2, 2};
    std::array<std::int64_t, 2> stride = {0, 0}; // 0: the kernel's size
    std::array<std::int64_t, 2> padding = {0, 0};
};
// x [N, C, H, W] -> [N, C, OH, OW]; NaN wins; of equal values the first in row-major order takes the
// gradient.  The padding is at most half of the kernel's size and never wins.
Tensor max_pool2d(const Tensor& x, const Pool2dOptions&);
Tensor max_pool2d(const Tensor& x, std::int64_t kernel_size);

} // namespace reprise
