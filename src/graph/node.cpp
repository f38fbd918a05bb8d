#include "graph/node.hpp"

#include <algorithm>
#include <cassert>

#include <reprise/error.hpp>

#include "graph/release.hpp"

namespace reprise::graph {

Node::Node() = default;

Node::~Node()
{
    release_in_turn<std::shared_ptr<const Node>>([this](auto& last_owned) {
        for (Value& v : inputs)
            if (v.node.use_count() == 1) last_owned.push_back(std::move(v.node));
            else v.node.reset(); // at once, as a later input may be the same node
    });
}

std::size_t viewed_input(const Node& n, std::size_t output)
{
    return n.op->view_of ? n.op->view_of(n, output) : 0;
}

const Value* view_base(const Node& n, std::size_t output)
{
    if (!n.op || !n.op->view || n.inputs.empty()) return nullptr;
    const Value& base = n.inputs[viewed_input(n, output)];
    return base.node->evaluator == n.evaluator ? &base : nullptr;
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

void sort_by_age(std::vector<const Node*>& nodes)
{
    if (nodes.empty()) return;
    const auto older = [](const Node* a, const Node* b) { return a->id < b->id; };
    const auto [first, last] = std::minmax_element(nodes.begin(), nodes.end(), older);
    const std::uint64_t oldest = (*first)->id, range = (*last)->id - oldest;
    if (range / 8 > nodes.size()) // more than 64 bytes a node
        return std::sort(nodes.begin(), nodes.end(), older);
    std::vector<const Node*> by_age(range + 1); // nodes of one training step have ids close to each other
    for (const Node* n : nodes) by_age[n->id - oldest] = n;
    [[maybe_unused]] const auto end =
        std::copy_if(by_age.begin(), by_age.end(), nodes.begin(), [](const Node* n) { return n != nullptr; });
    assert(end == nodes.end());
}

std::vector<const Node*> pending(std::span<const Value> targets)
{
    return ancestors(targets, [](const Node& n) { return !n.materialised(); });
}

std::vector<const Node*> reachable(std::span<const Value> targets)
{
    return ancestors(targets, [](const Node&) { return true; });
}

} // namespace reprise::graph
