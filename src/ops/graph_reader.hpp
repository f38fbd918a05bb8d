// The reader of the table of elementwise ops that records graph nodes for a row's formula or derivative.
#pragma once
#include <span>
#include <string_view>

#include <reprise/tensor.hpp>

namespace reprise::ops {

// Part 0 is the formula, applied to `inputs`; part 1 + k is the derivative by input k, which may read inputs, y and dy.
// Tensors that a derivative does not read may be undefined. Returns an undefined tensor if there is no derivative.
Tensor record_row(std::string_view row, int part, std::span<const Tensor> inputs, const Tensor& y = {},
                  const Tensor& dy = {});

} // namespace reprise::ops
