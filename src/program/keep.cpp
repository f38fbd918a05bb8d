#include "program/keep.hpp"

#include <unordered_map>
#include <unordered_set>

#include "autograd/walk.hpp"
#include "graph/segment.hpp"

namespace reprise::program {

using graph::Node;
using graph::Value;

namespace {

class Keep {
public:
    void targets(std::span<const Value> targets)
    {
        for (const Value& v : targets) add(v.node.get());
    }

    void referred_from_outside(const std::vector<const Node*>& nodes)
    {
        std::unordered_map<const Node*, long> inside;
        for (const Node* n : nodes)
            for (const Value& v : n->inputs) ++inside[v.node.get()];
        for (const Node* n : nodes)
            if (n->weak_from_this().use_count() > inside[n]) keep_or_surround(n);
    }

    void read_by_the_tape(const std::vector<const Node*>& nodes)
    {
        for (const Node* n : nodes) {
            if (!n->on_tape() || n->is_leaf) continue;
            const autograd::Reads reads = autograd::vjp_reads(*n);
            for (std::size_t i = 0; i < n->inputs.size(); ++i)
                if (reads.inputs >> i & 1) provide(n->inputs[i]);
            for (std::uint32_t i = 0; i < n->outputs.size(); ++i)
                if (reads.outputs >> i & 1) provide({n->shared_from_this(), i});
        }
    }

    Kept take() { return std::move(kept_); }

private:
    void add(const Node* n) // all outputs or none: a node is stored or pending
    {
        if (n->materialised() || !seen_.insert(n).second) return;
        for (std::uint32_t i = 0; i < n->outputs.size(); ++i)
            kept_.values.push_back({n->shared_from_this(), i});
    }
    void provide(const Value& value)
    {
        if (!value.node->materialised() && graph::interior_of(*owner(value).node))
            kept_.unkept.push_back(owner(value));
        keep_or_surround(value.node.get());
    }
    // The value whose memory this one has.
    static const Value& owner(const Value& value)
    {
        const Value* at = &value;
        while (const Value* under = graph::looked_at(*at)) at = under;
        return *at;
    }
    // Of an interior; or a view of one, which would keep it.
    static bool is_made_again(const Node* n)
    {
        if (n->segment && graph::interior_of(*n)) return true;
        if (!n->op || !n->op->view) return false;
        const Node& base = *owner({n->shared_from_this(), 0}).node;
        return !base.materialised() && base.segment && graph::interior_of(base);
    }
    // The value itself, or what it is computed of again.
    void keep_or_surround(const Node* n)
    {
        if (n->materialised()) return;
        if (!is_made_again(n)) return add_unless_number(n);
        std::vector<const Node*> stack{n};
        while (!stack.empty()) {
            n = stack.back();
            stack.pop_back();
            if (n->materialised()) continue;
            if (!is_made_again(n)) add_unless_number(n);
            else if (again_.insert(n).second)
                for (const Value& v : n->inputs) stack.push_back(v.node.get());
        }
    }
    void add_unless_number(const Node* n) // a number costs nothing to make again
    {
        if (!n->op || !n->op->number) add(n);
    }

    Kept kept_;
    std::unordered_set<const Node*> seen_, again_;
};

} // namespace

Kept values_to_keep(const std::vector<const Node*>& nodes, std::span<const Value> targets)
{
    Keep keep;
    keep.referred_from_outside(nodes); // before anything else here refers to them
    keep.targets(targets);
    keep.read_by_the_tape(nodes);
    return keep.take();
}

void add_effects(const graph::Evaluator* self, std::vector<const Node*>& nodes, std::vector<Value>& targets)
{
    std::unordered_set<const graph::Segment*> seen;
    std::vector<std::shared_ptr<const Node>> found;
    std::unordered_map<const Node*, long> inside;
    for (const Node* n : nodes)
        for (const graph::Segment* s = graph::made_in(*n); s && seen.insert(s).second;
             s = graph::closed_outer(s))
            for (const auto& weak : s->effects)
                if (auto effect = weak.lock(); effect && effect->op && !effect->op->view && !effect->trace &&
                                               effect->evaluator.get() == self && !effect->materialised()) {
                    for (const Value& v : effect->inputs) ++inside[v.node.get()];
                    found.push_back(std::move(effect));
                }
    const std::size_t before = targets.size();
    for (const auto& n : found) // those that only others of them refer to are not asked for
        if (n.use_count() > inside[n.get()] + 1)
            for (std::uint32_t i = 0; i < n->outputs.size(); ++i) targets.push_back({n, i});
    if (targets.size() > before) nodes = graph::pending(targets);
}

} // namespace reprise::program
