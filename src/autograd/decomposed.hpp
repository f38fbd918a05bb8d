// A node's outputs by simpler ops: how an op is computed where it has no kernels of its own.
#pragma once
#include <vector>

#include "graph/node.hpp"

namespace reprise::autograd {

struct Decomposed {
    std::vector<graph::Value> inputs; // placeholders of the node's inputs
    std::vector<graph::Value> outputs;
};
Decomposed decomposed(const graph::Node&); // whose op has a decomposition

} // namespace reprise::autograd
