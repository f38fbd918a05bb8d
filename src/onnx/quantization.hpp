// Integers of few bits, and their scales and zero points.
#pragma once
#include <functional>

#include "onnx/call.hpp"

namespace reprise::onnx {

// Scales or zero points, one for all of x, one for each index along the axis, or one for each block of it, as a tensor
// that broadcasts to x.
Tensor along_axis(const Call&, const Tensor& given, const Tensor& x, std::int64_t axis,
                  std::int64_t block = 0);
// An input minus its zero point along an axis, in f32.
Tensor centred(const Call&, std::size_t x, std::size_t zero, std::int64_t axis);
// Sums of so many products of centred integers, as i32.  product(x) computes them in f32, whose 24 bits hold 258
// products of numbers up to 255.  For longer sums the high and the low four bits of x are multiplied apart, which is
// exact for up to 4,112 products.
Tensor exact_sums(const Tensor& x, const Dim& products, const std::function<Tensor(const Tensor&)>& product);
// Rounds numbers that are scaled already, adds the zero point (undefined: 0) and clamps to the range of the type.
Value quantized(const Tensor& scaled, const Tensor& zero, const ElementType& type);

} // namespace reprise::onnx
