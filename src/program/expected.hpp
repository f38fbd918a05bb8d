// What nobody has asked for yet, and somebody will: values that cells were given, such as running statistics, and the loss
// that a backward pass went out from.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/node.hpp"

namespace reprise::program {

// Those of `expected` that cost little beside an evaluation: all that they are computed of has a value, is of the
// evaluation (marked with `visit`), or is read by them alone.  Of the others something is somebody's who has not asked for
// it, such as a forward pass whose loss comes later.  `expected` holds one reference to each.
std::vector<graph::Value> computed_beside(std::span<const std::shared_ptr<const graph::Node>> expected,
                                          std::uint64_t visit);

} // namespace reprise::program
