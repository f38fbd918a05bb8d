#include "autograd/walk.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <reprise/autograd/grad.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/shapes.hpp>

#include "autograd/grad_mode.hpp"
#include "base/few.hpp"
#include "graph/notes.hpp"
#include "shape/guard.hpp"
#include <reprise/recycled.hpp>

namespace reprise::autograd {

using graph::Node;
using graph::Value;

namespace {

// Of SpoilVjp; written while no walk is under way.
const graph::Op* spoiled = nullptr;
SpoilVjp::Change change;

using Gradients = std::vector<std::pair<std::shared_ptr<graph::Cell>, Tensor>>;

class Walk {
public:
    // `to`: where the cotangents of leaves go; null: to their grad().
    Walk(std::span<const Value> outputs, std::span<const Value> inputs, bool to_leaves,
         const WalkOptions& options, Gradients* to = nullptr)
        : options_(options), to_leaves_(to_leaves), to_(to)
    {
        for (const Value& v : inputs) wanted_.insert(v.node.get());
        collect(outputs);
        mark_needed();
    }

    void seed(const Value& v, const Tensor& cotangent) { add(v, cotangent); }

    void run()
    {
        GradModeGuard mode(options_.create_graph);
        for (auto n = order_.rbegin(); n != order_.rend(); ++n) visit(**n);
        if (!options_.retain_graph && !options_.create_graph) release();
    }

    Tensor cotangent(const Value& v) const
    {
        auto found = cotangents_.find(v.node.get());
        return found == cotangents_.end() ? Tensor() : found->second[v.index];
    }

private:
    bool ends_at(const Node& n) const { return n.is_leaf || (options_.stop_at_inputs && wanted_.count(&n)); }

    void collect(std::span<const Value> outputs)
    {
        std::vector<std::shared_ptr<const Node>> stack;
        Nodes seen;
        auto visit = [&](const Value& v) {
            if (v.node->requires_grad && seen.insert(v.node.get()).second) stack.push_back(v.node);
        };
        for (const Value& v : outputs) visit(v);
        while (!stack.empty()) {
            std::shared_ptr<const Node> n = std::move(stack.back());
            stack.pop_back();
            order_.push_back(n);
            if (ends_at(*n)) continue;
            if (n->released)
                detail::fail(ErrorKind::state, "backward", "The graph of (", n->op->name,
                             ") was already used by a backward pass and released: pass retain_graph to the "
                             "first one.");
            for (const Value& v : n->inputs) visit(v);
        }
        std::sort(order_.begin(), order_.end(), [](const auto& a, const auto& b) { return a->id < b->id; });
    }

    // With given inputs only what leads to them is walked.
    void mark_needed()
    {
        for (const auto& n : order_) {
            bool on = wanted_.count(n.get()) || (to_leaves_ && n->is_leaf);
            if (!ends_at(*n))
                for (const Value& v : n->inputs) on = on || needed_.count(v.node.get());
            if (on) needed_.insert(n.get());
        }
    }

    void add(const Value& v, const Tensor& cotangent)
    {
        auto& list = cotangents_[v.node.get()];
        if (list.empty()) list.resize(v.node->outputs.size());
        Tensor& sum = list[v.index];
        sum = sum.defined() ? reprise::add(sum, cotangent) : cotangent;
    }

    void visit(const Node& n)
    {
        auto found = cotangents_.find(&n);
        if (found == cotangents_.end() || !needed_.count(&n)) return;
        call_hooks(n, found->second);
        if (to_leaves_) keep_gradients(n, found->second);
        if (ends_at(n)) return;
        std::vector<Tensor> inputs, outputs;
        auto wanted = std::make_unique<bool[]>(n.inputs.size());
        for (std::size_t i = 0; i < n.inputs.size(); ++i) {
            inputs.push_back(graph::make_tensor(n.inputs[i]));
            wanted[i] = n.inputs[i].node->requires_grad && needed_.count(n.inputs[i].node.get());
        }
        for (std::uint32_t i = 0; i < n.outputs.size(); ++i)
            outputs.push_back(graph::make_tensor({n_shared(n), i}));
        const ByOutput given = found->second;
        const std::vector<Tensor> d = node_vjp({n, inputs, outputs, given, {wanted.get(), n.inputs.size()}});
        for (graph::Scope* s = graph::current_scope(); s; s = s->outer()) s->differentiated(n, d);
        if (!wanted_.count(&n)) cotangents_.erase(&n); // not asked for: its memory can go
        for (std::size_t i = 0; i < d.size(); ++i)
            if (wanted[i] && d[i].defined()) pass_on(n, i, n.op == spoiled ? change(i, d[i]) : d[i]);
    }

    static void call_hooks(const Node& n, Few<Tensor, 1>& cotangents)
    {
        if (const auto owner = n.leaf.lock()) { // its hooks of today
            if (owner->hooks) call(*owner->hooks, cotangents[0]);
        } else if (n.notes)
            for (std::size_t i = 0; i < n.notes->hooks.size(); ++i)
                if (n.notes->hooks[i] && cotangents[i].defined()) call(*n.notes->hooks[i], cotangents[i]);
    }

    static void call(const graph::GradHooks& hooks, Tensor& cotangent)
    {
        for (const auto& hook : hooks.hooks()) {
            const Tensor given = hook(cotangent);
            if (!given.defined()) continue;
            if (given.dtype() != cotangent.dtype() || given.shape() != cotangent.shape())
                detail::fail(ErrorKind::shape, "register_hook", "A hook gave ", name_of(given.dtype()),
                             to_string(given.shape()), " for a gradient of ", name_of(cotangent.dtype()),
                             to_string(cotangent.shape()), ": give one of the same shape and dtype.");
            cotangent = given;
        }
    }

    void keep_gradients(const Node& n, const Few<Tensor, 1>& cotangents)
    {
        if (n.is_leaf) {
            const std::shared_ptr<graph::Cell> owner = n.leaf.lock();
            if (owner && to_) to_->emplace_back(owner, own(cotangents[0]));
            else if (owner) add_to_grad(owner, cotangents[0]);
        } else if (n.notes && !to_)
            for (std::size_t i = 0; i < n.notes->retained.size(); ++i)
                if (const auto owner = n.notes->retained[i].lock(); owner && cotangents[i].defined())
                    add_to_grad(owner, cotangents[i]);
    }

    void pass_on(const Node& n, std::size_t i, const Tensor& cotangent)
    {
        const graph::TensorType& type = n.inputs[i].type();
        if (cotangent.dtype() != type.dtype || !shape_fits(n, cotangent, type.shape))
            detail::fail(ErrorKind::internal, n.op->name, "The gradient of input (", i, ") is ",
                         name_of(cotangent.dtype()), to_string(cotangent.shape()), " but the input is ",
                         name_of(type.dtype), to_string(type.shape), ".");
        add(n.inputs[i], cotangent.shape() == type.shape ? cotangent : reshape(cotangent, type.shape));
    }

    // Sizes that are equal by a guard of the recording may be written in another way.
    static bool shape_fits(const Node& n, const Tensor& cotangent, const Shape& shape)
    {
        const Shape found = cotangent.shape();
        if (found.size() != shape.size()) return false;
        for (std::size_t d = 0; d < shape.size(); ++d) {
            if (found[d].is_constant() && shape[d].is_constant() && found[d] != shape[d]) return false;
            shape::require_equal(n.op->name, found[d], shape[d], [] {
                return std::string("A gradient's shape differs from that of what it belongs to.");
            });
        }
        return true;
    }

    // A cell of its own: the cotangent may be the caller's tensor.
    Tensor own(const Tensor& cotangent) const
    {
        return options_.create_graph ? graph::make_tensor(graph::read(cotangent)) : cotangent.detach();
    }

    void add_to_grad(const std::shared_ptr<graph::Cell>& owner, const Tensor& cotangent) const
    {
        const Tensor tensor(owner);
        const std::shared_ptr<graph::Cell> before = graph::grad_to_add_to(tensor);
        const Tensor sum = before ? reprise::add(Tensor(before), cotangent) : own(cotangent);
        graph::set_grad_of(tensor, sum.cell());
    }

    void release()
    {
        std::unordered_map<graph::Evaluator*, std::vector<const Node*>> used;
        for (const auto& n : order_) {
            if (ends_at(*n) || !needed_.count(n.get())) continue;
            n->released = true;
            if (n->notes) // no pass comes here again
                for (const auto& hooks : n->notes->hooks)
                    if (hooks) hooks->clear();
            used[n->evaluator.get()].push_back(n.get());
        }
        for (auto& [evaluator, nodes] : used) evaluator->release(nodes);
    }

    std::shared_ptr<const Node> n_shared(const Node& n) const
    {
        auto at = std::lower_bound(order_.begin(), order_.end(), n.id,
                                   [](const auto& a, std::uint64_t id) { return a->id < id; });
        return *at;
    }

    WalkOptions options_;
    bool to_leaves_;
    Gradients* to_;
    std::vector<std::shared_ptr<const Node>> order_; // by id
    using Nodes =
        std::unordered_set<const Node*, std::hash<const Node*>, std::equal_to<>, Recycled<const Node*>>;
    Nodes wanted_, needed_;
    using ByOutput = Few<Tensor, 1>;
    std::unordered_map<const Node*, ByOutput, std::hash<const Node*>, std::equal_to<>,
                       Recycled<std::pair<const Node* const, ByOutput>>>
        cotangents_;
};

// y = f(x) written in simpler ops on identities of the inputs, differentiated there: what lies behind the
// inputs is not walked twice.
std::vector<Tensor> vjp_by_decomposition(const graph::VjpArguments& a)
{
    std::vector<Tensor> inputs;
    std::vector<Value> values;
    const bool mode = graph::grad_mode();
    {
        GradModeGuard on(true);
        for (std::size_t i = 0; i < a.inputs.size(); ++i) {
            const Value v = graph::read(a.inputs[i]);
            inputs.push_back(a.wanted[i] ? graph::make_tensor(graph::identity(v)) : a.inputs[i]);
            values.push_back(graph::read(inputs.back()));
        }
        const std::vector<Tensor> outputs = a.node.op->decompose(a.node, inputs);
        std::vector<Value> out;
        std::vector<Tensor> seeds;
        for (std::size_t i = 0; i < outputs.size(); ++i)
            if (a.cotangents[i].defined() && graph::read(outputs[i]).node->requires_grad) {
                out.push_back(graph::read(outputs[i]));
                seeds.push_back(a.cotangents[i]);
            }
        std::vector<Value> wanted;
        for (std::size_t i = 0; i < values.size(); ++i)
            if (a.wanted[i]) wanted.push_back(values[i]);
        std::vector<Tensor> found = cotangents_of(
            out, seeds, wanted, {.create_graph = mode, .retain_graph = mode, .stop_at_inputs = true});
        std::vector<Tensor> result(a.inputs.size());
        for (std::size_t i = 0, k = 0; i < result.size(); ++i)
            if (a.wanted[i]) result[i] = found[k++];
        return result;
    }
}

} // namespace

void accumulate(std::span<const Value> outputs, std::span<const Tensor> seeds, const WalkOptions& options)
{
    Walk walk(outputs, {}, true, options);
    for (std::size_t i = 0; i < outputs.size(); ++i) walk.seed(outputs[i], seeds[i]);
    walk.run();
}

Gradients gradients_of_leaves(std::span<const Value> outputs, std::span<const Tensor> seeds,
                              const WalkOptions& options)
{
    Gradients found;
    Walk walk(outputs, {}, true, options, &found);
    for (std::size_t i = 0; i < outputs.size(); ++i) walk.seed(outputs[i], seeds[i]);
    walk.run();
    return found;
}

std::vector<Tensor> cotangents_of(std::span<const Value> outputs, std::span<const Tensor> seeds,
                                  std::span<const Value> inputs, const WalkOptions& options)
{
    Walk walk(outputs, inputs, false, options);
    for (std::size_t i = 0; i < outputs.size(); ++i) walk.seed(outputs[i], seeds[i]);
    walk.run();
    std::vector<Tensor> out;
    for (const Value& v : inputs) out.push_back(walk.cotangent(v));
    return out;
}

SpoilVjp::SpoilVjp(const graph::Op& op, Change c)
{
    spoiled = &op;
    change = std::move(c);
}

SpoilVjp::~SpoilVjp()
{
    spoiled = nullptr;
    change = nullptr;
}

std::vector<Tensor> node_vjp(const graph::VjpArguments& a)
{
    const graph::ScopesOff off; // a VJP's ops are the library's
    const graph::Op& op = *a.node.op;
    if (a.node.gradient) return a.node.gradient->vjp(a);
    if (op.vjp) return op.vjp(a);
    if (op.decompose) return vjp_by_decomposition(a);
    detail::fail(ErrorKind::internal, op.name, "There is no gradient for this op, yet it is on the tape.");
}

} // namespace reprise::autograd
