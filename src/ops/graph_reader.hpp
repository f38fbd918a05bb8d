// The table read by values that record: a row's formula, or a derivative, as nodes of the graph.
#pragma once
#include <span>
#include <string_view>

#include <reprise/tensor.hpp>

namespace reprise::ops {

// part 0: the formula of `inputs`; 1 + k: the derivative by input k, of inputs, y and dy.  Undefined tensors
// stand for what a derivative does not read; undefined comes back where there is no derivative.
Tensor record_row(std::string_view row, int part, std::span<const Tensor> inputs, const Tensor& y = {},
                  const Tensor& dy = {});

} // namespace reprise::ops
