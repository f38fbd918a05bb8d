#include "graph/node.hpp"

#include <algorithm>
#include <unordered_set>

#include <reprise/error.hpp>

#include "graph/notes.hpp"

namespace reprise::graph {

InputTypes::InputTypes(std::span<const Value> inputs)
{
    types_.reserve(inputs.size());
    for (const Value& v : inputs) types_.push_back(&v.type());
}

Node::Node() = default;

Node::~Node()
{
    // Inputs whose last owner this was are collected here instead of in nested destructors.
    thread_local std::vector<std::shared_ptr<const Node>>* dying = nullptr;
    if (inputs.empty()) return;
    if (dying) {
        for (Value& v : inputs) dying->push_back(std::move(v.node));
        inputs.clear();
        return;
    }
    std::vector<std::shared_ptr<const Node>> list;
    dying = &list;
    for (Value& v : inputs) list.push_back(std::move(v.node));
    inputs.clear();
    while (!list.empty()) {
        std::shared_ptr<const Node> last = std::move(list.back());
        list.pop_back();
        last.reset();
    }
    dying = nullptr;
}

const Value* looked_at(const Value& v)
{
    const Node& n = *v.node;
    if (!n.op || !n.op->view || n.inputs.empty()) return nullptr;
    const Value& under = n.inputs[n.op->looks_at ? n.op->looks_at(n, v.index) : 0];
    return under.node->evaluator == n.evaluator ? &under : nullptr; // what came from another device is a copy
}

void verify(const Node& node)
{
    if (!node.op) return;
    for (const Value& v : node.inputs) {
        if (!v.node || v.index >= v.node->outputs.size() || v.node->id >= node.id)
            detail::fail(ErrorKind::internal, node.op->name, "Node (", node.id,
                         ") has an input that is not legal.");
    }
    if (node.op->infer(*node.op, InputTypes(node.inputs), node.attributes) != node.outputs)
        detail::fail(ErrorKind::internal, node.op->name, "The types of node (", node.id,
                     ") are not its op's.");
}

namespace {

// The targets' nodes and all that they depend on by way of nodes to enter, in the order of their making.
template <class Enter> std::vector<const Node*> ancestors(std::span<const Value> targets, const Enter& enter)
{
    std::vector<const Node*> stack, found;
    std::unordered_set<const Node*> seen;
    auto visit = [&](const Node* n) {
        if (enter(*n) && seen.insert(n).second) stack.push_back(n);
    };
    for (const Value& v : targets) visit(v.node.get());
    while (!stack.empty()) {
        const Node* n = stack.back();
        stack.pop_back();
        found.push_back(n);
        for (const Value& v : n->inputs) visit(v.node.get());
    }
    std::sort(found.begin(), found.end(), [](const Node* a, const Node* b) { return a->id < b->id; });
    return found;
}

} // namespace

std::vector<const Node*> pending(std::span<const Value> targets)
{
    return ancestors(targets, [](const Node& n) { return !n.materialised(); });
}

std::vector<const Node*> reachable(std::span<const Value> targets)
{
    return ancestors(targets, [](const Node&) { return true; });
}

} // namespace reprise::graph
