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

// The types of an op's inputs, where they lie.
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

// What the evaluation under way notes at a node.
struct Mark {
    std::uint64_t visit = 0;     // which evaluation's; another's notes are stale
    std::uint32_t place = 0;     // among its nodes or, of what was computed before, its slots
    std::uint32_t uses : 30 = 0; // by inputs of its nodes
    std::uint32_t kept : 1 = 0, boundary_visited : 1 = 0;
};

// The graph's part of a node is const from when append() shows it to the evaluator; what evaluation and the tape
// do to it is mutable and belongs to the evaluator's lock, but for the notes, which evaluation never looks at.
struct Node : std::enable_shared_from_this<Node> {
    const Op* op = nullptr; // null: its storage or binding is given
    std::uint64_t id = 0;
    std::uint32_t trace = 0; // of the recording that made it; 0: eager
    bool is_leaf = false;    // the tape ends here
    bool requires_grad = false;
    mutable std::atomic<bool> released = false; // backward has used this part of the tape
    mutable Mark mark;
    std::shared_ptr<Evaluator> evaluator;
    mutable std::vector<std::shared_ptr<Storage>> storage; // by output; empty or null: pending
    mutable std::vector<Value> inputs; // dropped once the values are known and no tape needs them
    TensorTypes outputs;
    Attributes attributes;
    std::shared_ptr<const Segment> segment;        // that it was made in; null: none
    std::shared_ptr<const GivenGradient> gradient; // a user's in place of the op's; null: none
    mutable std::shared_ptr<TapeNotes> notes; // of a leaf, and what users have put on the tape; null: nothing

    Node();
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    ~Node(); // iterative: a chain of any length is released without recursion

    bool materialised() const noexcept { return !storage.empty() && storage[0] != nullptr; }
    bool on_tape() const noexcept { return requires_grad && !released; }
};
inline const TensorType& Value::type() const { return node->outputs[index]; }

// Of a node whose outputs are views: the number of the input that the output is a view of.
std::size_t viewed_input(const Node&, std::size_t output);
// The input whose memory an output shares; null where it is no view, or a view of an input on another device, which is a
// copy.
const Value* view_base(const Node&, std::size_t output);

inline const Value* view_base(const Value& v) { return view_base(*v.node, v.index); }
// Of several outputs those that are no numbers of a floating dtype (places, indices) never do.
inline bool requires_grad(const Value& v) { return v.node->requires_grad && is_floating(v.type().dtype); }

// Checks a node against its op's rule: input count and types, output types.  Throws Error(internal).
void verify(const Node&);

// The oldest first.  Their ids differ.
void sort_by_age(std::vector<const Node*>&);

// The targets' nodes and all that they depend on by way of nodes that `enter` accepts, the oldest first.  The inputs of
// nodes that `expand` refuses are not looked at.
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

// Everything that `targets` depend on and that is not materialised, inputs first.
std::vector<const Node*> pending(std::span<const Value> targets);
// Everything that they depend on.
std::vector<const Node*> reachable(std::span<const Value> targets);

} // namespace reprise::graph
