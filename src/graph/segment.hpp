// Segments: checkpointed regions of a graph.  The values of a segment's interior are not saved for the backward pass;
// where it reads them after they were freed, the same nodes compute them again.  A segment marks nodes and changes
// none, so the graph, its tape and its gradients are the same as without it.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/ambient.hpp"
#include "graph/node.hpp"

namespace reprise::graph {

struct Segment : std::enable_shared_from_this<Segment> {
    std::shared_ptr<const Segment> outer; // the enclosing segment; null: none
    bool saves_compute = false;           // selective: saves the results of compute-bound ops (Op::cost)
    std::string layer{};                  // its name in MemoryTracker; empty: none

    // The thread that runs the segment writes these until the segment is closed; afterwards they are constant.
    std::atomic<bool> closed = false;
    std::vector<std::uint64_t> interior; // ids, ascending: the nodes that its outputs are computed from
    std::vector<std::weak_ptr<const Node>> nodes; // nodes created in it
    // Nodes created in it that its outputs do not depend on, such as running statistics.
    std::vector<std::weak_ptr<const Node>> effects;

    // Bytes of the values that are recomputed, by evaluator, then by node and output; eager/context.cpp writes them.
    using Bytes = std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t>;
    mutable std::map<const Evaluator*, Bytes> recomputed_bytes{};
};

// Returns the innermost closed segment that the node was created in; null: none.
const Segment* made_in(const Node&);
// Whether the segment does not save the node's value but recomputes it.
bool is_interior(const Segment&, const Node&);
// Returns the innermost closed segment that recomputes the node's value; null: none does.
const Segment* interior_of(const Node&);
inline const Segment* closed_outer(const Segment* s)
{
    do s = s->outer.get();
    while (s && !s->closed);
    return s;
}

// Copies of the segments of a graph that is being copied; all copies are nested in `outer`.
class SegmentCopies {
public:
    explicit SegmentCopies(Segment* outer = nullptr) : outer_(outer) {}

    std::shared_ptr<Segment> of(const Segment*);   // the segment's copy; for null: `outer`
    void copied(const Node& from, const Node& to); // adds `to` to the interiors that have `from`
    void close();                                  // no node is created in them from now on

private:
    Segment* outer_;
    std::unordered_map<const Segment*, std::shared_ptr<Segment>> copies_;
};

// While this object exists, nodes that this thread creates belong to a new segment.
class SegmentScope {
public:
    SegmentScope(bool saves_compute, std::string layer);
    ~SegmentScope(); // without close() before, the segment has no effect
    SegmentScope(const SegmentScope&) = delete;
    SegmentScope& operator=(const SegmentScope&) = delete;

    // Ends the segment.  Its interior are the nodes that the outputs are computed from, except for those that something
    // else refers to.  Values of the interior that exist already are dropped.
    void close(const std::vector<Value>& outputs);

    Segment* outer() const { return const_cast<Segment*>(segment_->outer.get()); } // null: none

private:
    std::shared_ptr<Segment> segment_;
};

} // namespace reprise::graph
