// Rounding to integers of few bits.
#pragma once
#include "onnx/value.hpp"

namespace reprise::onnx {

// Rounds numbers that are scaled already, adds the zero point (undefined: 0) and clamps to the range of the type.
Value quantized(const Tensor& scaled, const Tensor& zero, const ElementType& type);

} // namespace reprise::onnx
