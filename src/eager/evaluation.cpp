#include "eager/evaluation.hpp"

#include <atomic>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <reprise/error.hpp>

#include "autograd/walk.hpp"
#include "graph/segment.hpp"

namespace reprise::eager {

using graph::Node;
using graph::Value;

namespace {

std::atomic<std::uint64_t> visits = 0;

// Selects the co-scheduled nodes that cost little in addition to an evaluation: their inputs have values, are part of
// the evaluation (marked with `visit`), or are read by these nodes only.  Leaves out nodes that need a value which
// something else refers to and which was not requested, such as a forward pass whose loss is computed later.  `nodes`
// holds one reference to each node.
std::vector<Value> co_scheduled(std::span<const std::shared_ptr<const Node>> nodes, std::uint64_t visit)
{
    struct Found {
        const Node* node;
        long uses; // number of references from other found nodes and from `nodes`
        bool root; // in `nodes`
        bool refused = false;
    };
    std::map<std::uint64_t, Found> found; // by id, so that inputs precede their users
    const auto is_given = [&](const Node& n) { return n.materialised() || n.mark.visit == visit; };
    for (const auto& n : nodes) {
        if (is_given(*n)) continue;
        Found& f = found.try_emplace(n->id, Found{n.get(), 0, true}).first->second;
        f.root = true;
        ++f.uses;
    }
    // Visits by descending id: all users of a node are visited before the node, so its number of uses is final.
    for (auto at = found.end(); at != found.begin();) {
        --at;
        Found& f = at->second;
        const bool shared = f.node->weak_from_this().use_count() > f.uses;
        if (!shared) f.root = false; // its cell was assigned again since, or nobody holds the loss any more
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

class Collector {
public:
    Collector(const graph::Evaluator& self, Evaluation& out) : self_(self), out_(out) { out_.clear(); }

    void run(std::span<const Value> requested, std::vector<std::shared_ptr<const Node>> co_scheduled_nodes)
    {
        std::vector<Value> targets(requested.begin(), requested.end());
        visit_ = ++visits;
        find_nodes(targets);
        find_more(targets, effects());
        if (!co_scheduled_nodes.empty()) find_more(targets, co_scheduled(co_scheduled_nodes, visit_));
        co_scheduled_nodes.clear(); // the following steps use reference counts
        number_nodes();
        find_externals();
        store_referred();
        for (const Value& v : targets) store_outputs(*v.node);
        store_for_the_tape();
    }

private:
    // Marks and adds the pending nodes of the values and all pending nodes that they depend on.
    void find_nodes(std::span<const Value> values)
    {
        const auto visit = [&](const Value& v) {
            const Node* n = v.node.get();
            if (n->materialised()) return;
            check(*n);
            if (n->mark.visit == visit_) return;
            n->mark = {.visit = visit_};
            out_.nodes.push_back(n);
        };
        std::size_t next = out_.nodes.size();
        for (const Value& v : values) visit(v);
        for (; next < out_.nodes.size(); ++next)
            for (const Value& v : out_.nodes[next]->inputs) visit(v);
    }
    void find_more(std::vector<Value>& targets, const std::vector<Value>& more)
    {
        find_nodes(more);
        targets.insert(targets.end(), more.begin(), more.end());
    }
    // Sorts the nodes by id and stores their indices.
    void number_nodes()
    {
        graph::sort_by_age(out_.nodes);
        std::uint32_t index = 0;
        for (const Node* n : out_.nodes) n->mark.index = index++;
    }

    void check(const Node& n) const
    {
        if (!n.op || n.trace)
            detail::fail(ErrorKind::state, n.op ? n.op->name : "tensor",
                         "A tensor that was made while a program was recorded has no value: return it from "
                         "the recorded function and read what the program gives.");
        if (n.evaluator.get() != &self_)
            detail::fail(ErrorKind::device, n.op->name, "A graph spans the devices (", self_.name(),
                         ") and (", n.evaluator->name(), ").");
#ifndef NDEBUG
        graph::verify(n);
#endif
    }

    // Returns the pending values of Segment::effects of the segments that contain these nodes.
    std::vector<Value> effects() const
    {
        std::unordered_set<const graph::Segment*> seen;
        std::vector<std::shared_ptr<const Node>> found;
        std::unordered_map<const Node*, long> inside;
        for (const Node* n : out_.nodes) {
            if (!n->segment) continue;
            for (const graph::Segment* s = graph::made_in(*n); s && seen.insert(s).second;
                 s = graph::closed_outer(s))
                for (const auto& weak : s->effects)
                    if (auto effect = weak.lock(); effect && effect->op && !effect->op->view &&
                                                   !effect->trace && effect->evaluator.get() == &self_ &&
                                                   !effect->materialised()) {
                        for (const Value& v : effect->inputs) ++inside[v.node.get()];
                        found.push_back(std::move(effect));
                    }
        }
        std::vector<Value> out;
        for (const auto& n : found) // without those that only other effects refer to
            if (n.use_count() > inside[n.get()] + 1)
                for (std::uint32_t i = 0; i < n->outputs.size(); ++i) out.push_back({n, i});
        return out;
    }

    void find_externals()
    {
        for (const Node* n : out_.nodes)
            for (const Value& v : n->inputs) {
                const Node& from = *v.node;
                if (!from.materialised()) {
                    ++from.mark.uses;
                    continue;
                }
                if (from.evaluator.get() != &self_)
                    detail::fail(ErrorKind::internal, n->op->name, "The input is on (",
                                 from.evaluator->name(), "), not on (", self_.name(), ").");
                if (from.mark.visit != visit_) {
                    from.mark = {.visit = visit_, .index = static_cast<std::uint32_t>(out_.slots.size())};
                    out_.slots.resize(out_.slots.size() + from.outputs.size(), Evaluation::no_slot);
                }
                std::uint32_t& slot = out_.slots[from.mark.index + v.index];
                if (slot != Evaluation::no_slot) continue;
                slot = static_cast<std::uint32_t>(out_.externals.size());
                out_.externals.push_back(&v);
            }
    }

    void store_referred()
    {
        for (const Node* n : out_.nodes)
            if (n->weak_from_this().use_count() > static_cast<long>(n->mark.uses)) store_or_recompute(*n);
    }

    void store_for_the_tape()
    {
        for (const Node* n : out_.nodes) {
            if (!n->on_tape() || n->is_leaf) continue;
            const autograd::Reads reads = autograd::vjp_reads(*n);
            for (std::size_t i = 0; i < n->inputs.size(); ++i)
                if (reads.inputs.contains(i)) provide(*n->inputs[i].node, n->inputs[i].index);
            for (std::uint32_t i = 0; i < n->outputs.size(); ++i)
                if (reads.outputs.contains(i)) provide(*n, i);
        }
    }

    void store_outputs(const Node& n) // all outputs, as a node is either materialised or pending as a whole
    {
        if (n.materialised() || n.mark.stored) return;
        n.mark.stored = true;
        for (std::uint32_t i = 0; i < n.outputs.size(); ++i)
            out_.results.push_back({n.shared_from_this(), i});
    }
    void store_unless_number(const Node& n) // recomputing a splat constant costs nothing
    {
        if (!n.op->number) store_outputs(n);
    }
    void provide(const Node& n, std::uint32_t output)
    {
        if (!n.materialised() && is_recomputed(n)) {
            const Value* base = innermost_base(n, output);
            if (graph::interior_of(base ? *base->node : n))
                out_.recomputed.push_back(base ? *base : Value{n.shared_from_this(), output});
        }
        store_or_recompute(n);
    }
    // Returns the base of a chain of views; null where the output is no view.
    static const Value* innermost_base(const Node& n, std::uint32_t output)
    {
        const Value* base = graph::view_base(n, output);
        while (const Value* next = base ? graph::view_base(*base) : nullptr) base = next;
        return base;
    }
    // Whether the node belongs to an interior, or is a view of such a node, whose memory it would keep alive.
    static bool is_recomputed(const Node& n)
    {
        if (n.segment && graph::interior_of(n)) return true;
        const Value* base = innermost_base(n, 0);
        return base && !base->node->materialised() && base->node->segment && graph::interior_of(*base->node);
    }
    // Stores the value itself or, if it is recomputed, the values from which it is recomputed.
    void store_or_recompute(const Node& first)
    {
        if (first.materialised()) return;
        if (!is_recomputed(first)) return store_unless_number(first);
        std::vector<const Node*> stack{&first};
        while (!stack.empty()) {
            const Node* n = stack.back();
            stack.pop_back();
            if (n->materialised()) continue;
            if (!is_recomputed(*n)) store_unless_number(*n);
            else if (!n->mark.boundary_visited) {
                n->mark.boundary_visited = true;
                for (const Value& v : n->inputs) stack.push_back(v.node.get());
            }
        }
    }

    const graph::Evaluator& self_;
    Evaluation& out_;
    std::uint64_t visit_ = 0;
};

} // namespace

void Evaluation::clear()
{
    nodes.clear();
    externals.clear();
    results.clear();
    recomputed.clear();
    slots.clear();
}

void evaluation_of(const graph::Evaluator& self, std::span<const Value> targets,
                   std::vector<std::shared_ptr<const Node>> co_scheduled_nodes, Evaluation& out)
{
    Collector(self, out).run(targets, std::move(co_scheduled_nodes));
}

} // namespace reprise::eager
