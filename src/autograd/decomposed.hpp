// A node's outputs computed by simpler ops, for devices without kernels of the op.
#pragma once
#include <vector>

#include "graph/node.hpp"

namespace reprise::autograd {

struct Decomposed {
    std::vector<graph::Value> inputs; // placeholders of the node's inputs
    std::vector<graph::Value> outputs;
};
Decomposed decomposed(const graph::Node&); // the node's op must have a decomposition

} // namespace reprise::autograd
