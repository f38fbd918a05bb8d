// Co-scheduled values: nobody has requested them yet, but somebody will.  They are values that cells were given, such as
// running statistics, and losses that a backward pass started from.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/node.hpp"

namespace reprise::eager {

// Those of `nodes` that cost little beside an evaluation: their inputs have values, are part of the evaluation (marked
// with `visit`), or are read by them alone.  Left out are those that need a value which somebody else holds and has not
// requested, such as a forward pass whose loss comes later.  `nodes` holds one reference to each.
std::vector<graph::Value> co_scheduled(std::span<const std::shared_ptr<const graph::Node>> nodes,
                                       std::uint64_t visit);

} // namespace reprise::eager
