// The replacement of a layer's weight by a matrix in few bits.
#pragma once
#include <reprise/quantized.hpp>
#include <reprise/tensor.hpp>

namespace reprise::nn {

// Rounds the weight; of an undefined one, returns an undefined matrix.
QuantizedTensor rounded(const Variable& weight, QuantizedFormat);
// Returns q on the device of the weight, computed, so that the weight's memory can be freed; with bytes of its own
// unless they are shared.  Throws Error(state) where
// the layer has no weight or a program is recorded, and Error(shape) where q has another shape.
QuantizedTensor replacement(const Variable& weight, const QuantizedTensor& quantised_already,
                            const QuantizedTensor& q, bool shared);

} // namespace reprise::nn
