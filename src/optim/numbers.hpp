// Doubles in tensors of f32, which every device and file holds, without losing a bit.
#pragma once
#include <optional>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise::optim {

// f32 [3 n]: the sum of three is a number.
Tensor parts_of(const std::vector<double>&);
// Nothing unless the tensor is f32 [3 n], or of one number [1].
std::optional<std::vector<double>> numbers_of(const Tensor&);

} // namespace reprise::optim
