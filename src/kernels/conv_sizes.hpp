// Sizes of convolutions.
#pragma once
#include "ops/lowering.hpp"

namespace reprise::kernels {

inline Dim image_of(const ops::View& v) { return v.sizes()[2] * v.sizes()[3] * v.sizes()[4]; } // elements

} // namespace reprise::kernels
