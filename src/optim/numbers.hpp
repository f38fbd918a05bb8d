// Doubles in tensors of i32, which every device and file holds, without losing a bit.
#pragma once
#include <optional>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise::optim {

// i32 [2 n]: the low and the high half of each number's bits.
Tensor halves_of(const std::vector<double>&);
// Nothing unless the tensor is i32 [2 n], or f32 [1]: one number, as it is.
std::optional<std::vector<double>> numbers_of(const Tensor&);

} // namespace reprise::optim
