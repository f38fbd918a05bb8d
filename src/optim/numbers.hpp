// Stores doubles exactly in tensors of i32, a dtype that every device and file format supports.
#pragma once
#include <optional>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise::optim {

// Returns i32 [2 n]: the low and the high half of each number's bits.
Tensor halves_of(const std::vector<double>&);
// Returns the numbers of such a tensor i32 [2 n] with n > 0, or the one of an f32 [1]; nullopt for other tensors.
std::optional<std::vector<double>> numbers_of(const Tensor&);

} // namespace reprise::optim
