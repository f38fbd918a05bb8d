// Simulated quantisation for training.
#pragma once
#include <cstdint>

#include <reprise/tensor.hpp>

namespace reprise {

// Rounds x as quantisation to integers from quant_min to quant_max would:
// (clamp(round(x / scale) + zero_point, quant_min, quant_max) - zero_point) * scale, halves to even.  The
// gradient passes unchanged where x is not clamped and is 0 elsewhere.  Error(dtype) where x is not floating;
// Error(argument) for a scale that is not positive, or a zero_point outside quant_min to quant_max.
Tensor fake_quantize_per_tensor_affine(const Tensor& x, double scale, std::int64_t zero_point,
                                       std::int64_t quant_min, std::int64_t quant_max);

} // namespace reprise
