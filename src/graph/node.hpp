// Nodes: the immutable graph.  A node's id is larger than those of its inputs, so sorting by id is a
// topological order.
#pragma once
#include <atomic>
#include <memory>
#include <unordered_set>
#include <vector>

#include "graph/evaluator.hpp"
#include "graph/op.hpp"

namespace reprise::graph {

struct GivenGradient; // graph/notes.hpp
struct Segment;       // graph/segment.hpp
struct TapeNotes;

// One output of a node.
struct Value {
    std::shared_ptr<const Node> node;
    std::uint32_t index = 0;

    const TensorType& type() const;
    explicit operator bool() const noexcept { return node != nullptr; }
    friend bool operator==(const Value&, const Value&) = default;
};

// The types of an op's inputs, as a view of the inputs: nothing is copied.
class InputTypes {
public:
    explicit InputTypes(std::span<const Value> inputs) : inputs_(inputs) {}
    std::size_t size() const noexcept { return inputs_.size(); }
    bool empty() const noexcept { return inputs_.empty(); }
    const TensorType& operator[](std::size_t i) const { return inputs_[i].type(); }
    const TensorType& back() const { return inputs_.back().type(); }

private:
    std::span<const Value> inputs_;
};

// Scratch data of the evaluation in progress, stored in each node that it visits.
struct Mark {
    std::uint64_t visit = 0; // number of the evaluation that set this mark; marks of others are stale
    std::uint32_t index = 0; // index in Evaluation::nodes or, for a node with values, in Evaluation::slots
    std::uint32_t uses : 30 = 0; // number of uses as an input by nodes of the evaluation
    std::uint32_t stored : 1 = 0, boundary_visited : 1 = 0;
};

// The members that are not mutable never change after append() has passed the node to the evaluator.  Evaluation and
// the tape change the mutable ones under the evaluator's lock, except for the notes, which evaluation does not access.
struct Node : std::enable_shared_from_this<Node> {
    const Op* op = nullptr; // null: a leaf with given storage, or a placeholder
    std::uint64_t id = 0;
    std::uint32_t trace = 0; // number of the recording that created it; 0: eager
    bool is_leaf = false;    // the tape ends here
    bool requires_grad = false;
    mutable std::atomic<bool> released = false; // backward has used this part of the tape
    mutable Mark mark;
    std::shared_ptr<Evaluator> evaluator;
    mutable std::vector<std::shared_ptr<Storage>> storage; // by output; null: pending
    mutable std::atomic<bool> has_storage = false; // set after `storage`, which other threads may then read
    mutable std::vector<Value> inputs; // dropped once the node has its values and no tape needs them
    TensorTypes outputs;
    Attributes attributes;
    std::shared_ptr<const Segment> segment;        // the innermost one that it was created in; null: none
    std::shared_ptr<const GivenGradient> gradient; // custom gradient in place of the op's; null: none
    mutable std::shared_ptr<TapeNotes> notes;      // owner of a leaf, hooks and the like; null: none

    Node();
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    ~Node(); // iterative: a chain of any length is released without recursion

    bool materialised() const noexcept { return has_storage.load(std::memory_order_acquire); }
    bool on_tape() const noexcept { return requires_grad && !released; }
};
inline const TensorType& Value::type() const { return node->outputs[index]; }

// Returns the index of the input that the output is a view of, for a node whose outputs are views.
std::size_t viewed_input(const Node&, std::size_t output);
// Returns the input whose memory an output shares.  Null where the output is no view, or where the input is on another
// device, so that the output is a copy.
const Value* view_base(const Node&, std::size_t output);

inline const Value* view_base(const Value& v) { return view_base(*v.node, v.index); }
// Outputs that are not of a floating dtype, such as the indices of max(), never require a gradient.
inline bool requires_grad(const Value& v) { return v.node->requires_grad && is_floating(v.type().dtype); }

// Throws Error(internal) unless the node's inputs are older than the node and its output types follow from the op's
// shape rule.
void verify(const Node&);

// Sorts by ascending id, which is the order of creation.  The nodes must be distinct.
void sort_by_age(std::vector<const Node*>&);

// Returns the nodes of the targets and all nodes that they depend on, by ascending id.  Visits only nodes that `enter`
// accepts, and the inputs only of nodes that `expand` accepts.
template <class Enter, class Expand = bool (*)(const Node&)> std::vector<const Node*> ancestors(
    std::span<const Value> targets, const Enter& enter,
    const Expand& expand = [](const Node&) { return true; })
{
    std::vector<const Node*> found;
    std::unordered_set<const Node*> seen;
    const auto visit = [&](const Value& v) {
        const Node* n = v.node.get();
        if (enter(*n) && seen.insert(n).second) found.push_back(n);
    };
    for (const Value& v : targets) visit(v);
    for (std::size_t i = 0; i < found.size(); ++i) {
        const Node& n = *found[i];
        if (!expand(n)) continue;
        for (const Value& v : n.inputs) visit(v);
    }
    sort_by_age(found);
    return found;
}

// Returns the pending nodes that the targets depend on, by ascending id.
std::vector<const Node*> pending(std::span<const Value> targets);
// Returns all nodes that the targets depend on, by ascending id.
std::vector<const Node*> reachable(std::span<const Value> targets);

} // namespace reprise::graph
