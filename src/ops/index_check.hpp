// The check of indices and classes that set_check_indices() turns on.
#pragma once
#include <cstdint>
#include <span>

#include <reprise/tensor.hpp>

#include "graph/index_check.hpp"

namespace reprise::ops {

using graph::IndexChecksOff;

// Where checks are on: each index must lie in the size, as the check says.  Eager code waits for the indices and throws
// Error(argument); in a recording the program's calls do.
void check_indices(const graph::IndexCheck&, const Tensor& index, const Dim& size);

// The same of indices that the host has.
void require_indices_inside(const graph::IndexCheck&, std::span<const std::int64_t> all, std::int64_t size);

} // namespace reprise::ops
