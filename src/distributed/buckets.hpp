// Buckets: tensors that are exchanged as one.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise::distributed {

using Tensors = std::vector<Tensor>;

// Calls f with lists of tensors of one dtype and device, in their order.  A list ends where it has `bytes`, the first
// one where it has `first_bytes`.
void each_bucket(const Tensors&, std::int64_t first_bytes, std::int64_t bytes,
                 const std::function<void(const Tensors&)>& f);

// Returns the elements of all tensors as one vector.
Tensor joined(Tensors);
// Cuts such a vector into tensors of the shapes of `like`.
Tensors cut(const Tensor& vector, const Tensors& like);

} // namespace reprise::distributed
