// What an evaluation leaves in memory.
#pragma once
#include <span>
#include <vector>

#include "graph/node.hpp"

namespace reprise::program {

// Values of the nodes of an evaluation that outlive it: the targets, what something outside of these nodes refers to,
// and what the VJPs of the tape will read.  Of a segment's interior none does but a target: what VJPs will read is
// computed again, of values around the segment, which are kept for that.
struct Kept {
    std::vector<graph::Value> values;
    std::vector<graph::Value> unkept; // what VJPs will read and is computed again
};
Kept values_to_keep(const std::vector<const graph::Node*>& nodes, std::span<const graph::Value> targets);

// What the segments of these nodes made for others than their outputs is computed with them, not once more for itself:
// it joins the targets, and what it needs the nodes.
void add_effects(const graph::Evaluator*, std::vector<const graph::Node*>& nodes,
                 std::vector<graph::Value>& targets);

} // namespace reprise::program
