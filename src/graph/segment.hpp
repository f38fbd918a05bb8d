// Segments: parts of a graph whose interior is not kept for the backward pass; what reads it there, once its values
// are gone, has them computed again by the same nodes.  A segment marks nodes and changes none, so the graph, its
// tape and its gradients are those without it.
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
    std::shared_ptr<const Segment> outer; // that it lies in; null: none
    bool keeps_compute = false;           // what is bound by arithmetic (Op::cost) is kept
    std::string layer{};                  // its name in MemoryTracker; empty: none

    // Written by the thread that runs it until it is closed; then const.
    std::atomic<bool> closed = false;
    std::vector<std::uint64_t> interior;          // ids, ascending: what its outputs are made of
    std::vector<std::weak_ptr<const Node>> nodes; // made in it
    std::vector<std::weak_ptr<const Node>>
        effects; // made in it for others than its outputs: running statistics

    // Bytes of the values that are recomputed, by evaluator, then by node and output: eager/context.cpp notes them.
    using Bytes = std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t>;
    mutable std::map<const Evaluator*, Bytes> recomputed_bytes{};
};

// The innermost closed segment that the node was made in; null: none.
const Segment* made_in(const Node&);
// Whether it does not keep the node's value.
bool is_interior(const Segment&, const Node&);
// The innermost closed segment that does not keep the node's value; null: it is a value like others.
const Segment* interior_of(const Node&);
inline const Segment* closed_outer(const Segment* s)
{
    do s = s->outer.get();
    while (s && !s->closed);
    return s;
}

// Where a graph is made once more: what stands for each of its segments, all inside of `outer`.
class SegmentCopies {
public:
    explicit SegmentCopies(Segment* outer = nullptr) : outer_(outer) {}

    std::shared_ptr<Segment> of(const Segment*);   // null: `outer`
    void copied(const Node& from, const Node& to); // `to` is of the interiors that `from` is of
    void close();                                  // no node is made in them from now on

private:
    Segment* outer_;
    std::unordered_map<const Segment*, std::shared_ptr<Segment>> copies_;
};

// Nodes of this thread are made in a new segment, for its life.
class SegmentScope {
public:
    SegmentScope(bool keeps_compute, std::string layer);
    ~SegmentScope(); // not closed: what was made is as without it
    SegmentScope(const SegmentScope&) = delete;
    SegmentScope& operator=(const SegmentScope&) = delete;

    // What these are made of is its interior from now on, but for what somebody holds; values of it that exist are
    // dropped.
    void close(const std::vector<Value>& outputs);

private:
    std::shared_ptr<Segment> segment_;
};

} // namespace reprise::graph
