// Convolutions and their gradients in native code, computed in f32.
#pragma once
#include "device/native/elements.hpp"
#include "device/native/tiles.hpp"
#include "device/native/windows.hpp"

namespace reprise::device::native {

// Each writes the last tensor.  `bias` is [groups * out_channels], and may be absent.
void convolve(const Tile&, const Convolution&, const Elements& x, const Elements& weight,
              const Elements& bias, const Elements& y);
void gradient_by_input(const Tile&, const Convolution&, const Elements& weight, const Elements& dy,
                       const Elements& dx);
void gradient_by_weight(const Tile&, const Convolution&, const Elements& x, const Elements& dy,
                        const Elements& dweight);

} // namespace reprise::device::native
