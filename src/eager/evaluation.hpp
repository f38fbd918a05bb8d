// One evaluation of eager code: the nodes to compute, the existing values that they read, and the values to store.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/node.hpp"

namespace reprise::eager {

struct Evaluation {
    std::vector<const graph::Node*> nodes;      // to compute, inputs first
    std::vector<const graph::Value*> externals; // by slot: the inputs that have values already, each once
    // The values to store: the targets, values that something outside of these nodes refers to, and values that VJPs of
    // the tape will read.  Values of a segment's interior are not stored unless they are targets: where VJPs read them,
    // they are recomputed, and the values outside of the segment that this needs are stored.
    std::vector<graph::Value> results;
    std::vector<graph::Value> recomputed; // values that VJPs will read and that are recomputed for them

    // Slots of externals, by Mark::index of the node plus index of the output; `no_slot`: not read.
    std::vector<std::uint32_t> slots;
    static constexpr std::uint32_t no_slot = 0xFFFFFFFF;

    void clear(); // keeps the vectors' capacity
    std::uint32_t slot_of(const graph::Value& v) const { return slots[v.node->mark.index + v.index]; }
};

// Collects the pending nodes that the targets need on this evaluator.  To save separate evaluations later, it adds the
// effects of the nodes' segments (Segment::effects), and those co-scheduled values that cost little.  Co-scheduled
// values were not requested yet, but will be: they are values assigned to cells, such as running statistics, and losses
// from which a backward pass started.  Marks the nodes, so the caller must hold the evaluator's lock.  Throws
// Error(device) for a graph that spans devices, and Error(state) for a tensor of a recording.
void evaluation_of(const graph::Evaluator&, std::span<const graph::Value> targets,
                   std::vector<std::shared_ptr<const graph::Node>> co_scheduled, Evaluation&);

} // namespace reprise::eager
