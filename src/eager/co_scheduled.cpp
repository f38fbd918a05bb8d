#include "eager/co_scheduled.hpp"

#include <map>

namespace reprise::eager {

using graph::Node;
using graph::Value;

std::vector<Value> co_scheduled(std::span<const std::shared_ptr<const Node>> nodes, std::uint64_t visit)
{
    struct Found {
        const Node* node;
        long uses; // by others that were found, and by `nodes`
        bool root;
        bool refused = false;
    };
    std::map<std::uint64_t, Found> found; // by id: inputs before what reads them
    const auto is_given = [&](const Node& n) { return n.materialised() || n.mark.visit == visit; };
    for (const auto& n : nodes) {
        if (is_given(*n)) continue;
        Found& f = found.try_emplace(n->id, Found{n.get(), 0, true}).first->second;
        f.root = true;
        ++f.uses;
    }
    // From the newest back: whoever reads a node was seen before it, so that its uses are known.
    for (auto at = found.end(); at != found.begin();) {
        --at;
        Found& f = at->second;
        const bool shared = f.node->weak_from_this().use_count() > f.uses;
        if (!shared) f.root = false; // its cell was given another one since, or nobody holds the loss
        f.refused = !f.node->op || f.node->trace != 0 || (shared && !f.root && !f.node->op->number);
        if (f.refused) continue;
        for (const Value& v : f.node->inputs)
            if (!is_given(*v.node))
                ++found.try_emplace(v.node->id, Found{v.node.get(), 0, false}).first->second.uses;
    }
    std::vector<Value> out;
    for (auto& [id, f] : found) {
        for (const Value& v : f.node->inputs)
            if (const auto input = found.find(v.node->id); input != found.end())
                f.refused |= input->second.refused;
        if (f.root && !f.refused) out.push_back({f.node->shared_from_this(), 0});
    }
    return out;
}

} // namespace reprise::eager
