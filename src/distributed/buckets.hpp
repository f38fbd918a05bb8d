// Buckets: tensors that are exchanged as one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise::distributed {

using Tensors = std::vector<Tensor>;

using Bucket = std::vector<std::size_t>; // indices

// Divides tensors into buckets of one dtype and device, in their order.  A bucket ends where it has `bytes`, the first
// one where it has `first_bytes`.  Within a bucket those whose size is a multiple of 16 bytes come first, so that most
// begin where kernels access 16 bytes at once.
std::vector<Bucket> buckets_of(const Tensors&, std::int64_t first_bytes, std::int64_t bytes);
// Returns the tensors of a bucket.
Tensors chosen(const Tensors&, const Bucket&);

// Returns the elements of all tensors as one vector.
Tensor joined(Tensors);
// Cuts such a vector into tensors of the shapes of `like`.
Tensors cut(const Tensor& vector, const Tensors& like);

} // namespace reprise::distributed
