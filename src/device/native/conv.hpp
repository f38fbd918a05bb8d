// Convolutions of f32 and their gradients in native code.
#pragma once
#include "device/native/tiles.hpp"
#include "device/native/windows.hpp"

namespace reprise::device::native {

// Each writes the last tensor.  `bias` is [groups * out_channels], or null.
void convolve(const Tile&, const Convolution&, const float* x, const float* weight, const float* bias,
              float* y);
void gradient_by_input(const Tile&, const Convolution&, const float* weight, const float* dy, float* dx);
void gradient_by_weight(const Tile&, const Convolution&, const float* x, const float* dy, float* dweight);

} // namespace reprise::device::native
