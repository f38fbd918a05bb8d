// One evaluation of eager code: what it computes, what it reads of earlier ones, what it leaves in memory.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/node.hpp"

namespace reprise::eager {

struct Evaluation {
    std::vector<const graph::Node*> nodes; // to compute, inputs first
    std::vector<const graph::Value*>
        externals; // by slot: inputs of nodes that were computed before, each once
    // Values that outlive it: the targets, what something outside of these nodes refers to, and what the VJPs of the tape
    // will read.  Of a segment's interior none does but a target: what VJPs will read is computed again, of values around
    // the segment, which are kept for that.
    std::vector<graph::Value> results;
    std::vector<graph::Value> recomputed; // what VJPs will read and is recomputed then

    // Of a node to compute: its place among `nodes`; of one that was computed: the first slot of its outputs.
    std::vector<std::uint32_t> slots; // of externals, by node and output; `no_slot`: not read
    static constexpr std::uint32_t no_slot = 0xFFFFFFFF;

    void clear(); // keeps its memory
    std::uint32_t slot_of(const graph::Value& v) const { return slots[v.node->mark.place + v.index]; }
};

// What these targets need on this evaluator, together with what the segments of its nodes made beside their outputs, and
// with co-scheduled values where those cost little: both are computed with the targets, not for themselves later.
// Nobody has requested co-scheduled values yet, but somebody will: they are values that cells were given, such as running
// statistics, and losses that a backward pass started from.  Marks the nodes: under the evaluator's lock.  Throws Error(device) for a graph that spans devices, Error(state) for a
// tensor of a recording.
void evaluation_of(const graph::Evaluator&, std::span<const graph::Value> targets,
                   std::vector<std::shared_ptr<const graph::Node>> co_scheduled, Evaluation&);

} // namespace reprise::eager
