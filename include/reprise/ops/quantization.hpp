// Simulated quantisation for training, and products of whole numbers.  Matrices in few bits: quantized.hpp.
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
// The same with a scale and a zero point for each index along the dimension `axis`: scale [C], of x's dtype or f32, and
// zero_point [C], of any number type.  No gradient flows to them, and their values are not checked.  Error(shape) where
// they do not have the size of x along axis; Error(dtype) where x is not floating.
Tensor fake_quantize_per_channel_affine(const Tensor& x, const Tensor& scale, const Tensor& zero_point,
                                        std::int64_t axis, std::int64_t quant_min, std::int64_t quant_max);
// The exact product of two matrices of i8: [m, k] x [k, n] -> i32 [m, n], as torch._int_mm.  Sums wrap around beyond
// i32, for k above 131,072 at the earliest.  No gradient.  Error(shape) and Error(dtype) for other operands.
Tensor int_mm(const Tensor&, const Tensor& other);

} // namespace reprise
