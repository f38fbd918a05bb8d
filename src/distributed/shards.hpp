// Shards: each rank has a part of every parameter.
//
// A tensor of N elements, padded with zeros, is cut into parts of ceil(N / ranks) elements, of which rank k has the
// k-th: so all ranks have as many, and an exchange of several tensors is one of equal parts.
#pragma once
#include <cstdint>

#include <reprise/tensor.hpp>

namespace reprise::distributed {

std::int64_t shard_size(std::int64_t elements, int ranks);
// Returns all shards of a tensor, [ranks, shard_size].
Tensor to_shards(const Tensor&, int ranks);
// Returns one of them, [shard_size].
Tensor shard_of(const Tensor&, int rank, int ranks);
// Returns the tensor of this shape of which these are all shards.
Tensor from_shards(const Tensor& shards, const Shape&);

} // namespace reprise::distributed
