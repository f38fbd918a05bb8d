#include "autograd/walk.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include <reprise/autograd/grad.hpp>
#include <reprise/grad_mode.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/shapes.hpp>

#include "graph/cell.hpp"
#include "graph/notes.hpp"
#include "ops/index_check.hpp"
#include "shape/guard.hpp"

namespace reprise::autograd {

using graph::Node;
using graph::Value;

namespace {

using Callbacks = std::vector<std::function<void()>>;
thread_local Callbacks* current_callbacks = nullptr; // of the innermost backward pass

using Gradients = std::vector<std::pair<std::shared_ptr<graph::Cell>, Tensor>>;

class Walk {
public:
    // `to` receives the cotangents of leaves; null: they are added to the leaves' grad().
    Walk(std::span<const Value> outputs, std::span<const Value> inputs, bool to_leaves,
         const WalkOptions& options, Gradients* to = nullptr)
        : options_(options), to_leaves_(to_leaves), to_(to)
    {
        collect(outputs, inputs);
        mark_needed();
    }

    void run(std::span<const Value> outputs, std::span<const Tensor> seeds)
    {
        for (std::size_t i = 0; i < outputs.size(); ++i) add(outputs[i], seeds[i]);
        AutoGradMode mode(options_.create_graph);
        for (Visited& at : order_) visit(at);
        if (!options_.retain_graph && !options_.create_graph) release();
    }

    Tensor cotangent(const Value& v) const
    {
        const Visited* const at = find(*v.node);
        return at && !at->cotangents.empty() ? at->cotangents[v.index] : Tensor();
    }

private:
    struct Visited {
        std::shared_ptr<const Node> node;
        bool wanted = false, passes = false; // its cotangent is requested; an input's cotangent is needed
        std::vector<Tensor> cotangents{};    // by output; empty: none has arrived
    };

    [[noreturn]] static void fail_released(const Node& n)
    {
        detail::fail(
            ErrorKind::state, "backward", "The graph of (", n.op->name,
            ") was already used by a backward pass and released: pass retain_graph to the first one.");
    }

    bool ends_at(const Visited& at) const
    {
        return at.node->is_leaf || (options_.stop_at_inputs && at.wanted);
    }

    // Returns null for a node that the walk does not visit.
    Visited* find(const Node& n) const
    {
        const auto at = visited_.find(&n);
        return at == visited_.end() ? nullptr : at->second;
    }

    // Collects the nodes to visit by descending id: a node's id is larger than its inputs', so its users precede it.
    void collect(std::span<const Value> outputs, std::span<const Value> inputs)
    {
        std::vector<std::uint64_t> wanted;
        for (const Value& v : inputs) wanted.push_back(v.node->id);
        std::sort(wanted.begin(), wanted.end());
        const auto is_wanted = [&](const Node& n) {
            return std::binary_search(wanted.begin(), wanted.end(), n.id);
        };
        const std::vector<const Node*> found = graph::ancestors(
            outputs, [](const Node& n) { return n.requires_grad; },
            [&](const Node& n) {
                return !n.is_leaf && !n.released && !(options_.stop_at_inputs && is_wanted(n));
            });
        order_.reserve(found.size());
        visited_.reserve(found.size());
        for (auto at = found.rbegin(); at != found.rend(); ++at) {
            const Node& n = **at;
            order_.push_back({.node = n.shared_from_this(), .wanted = is_wanted(n)});
            visited_[&n] = &order_.back();
            if (n.released && !ends_at(order_.back())) fail_released(n);
        }
    }

    // Marks the nodes with an input whose cotangent is needed; no other VJPs are called.
    void mark_needed()
    {
        for (auto at = order_.rbegin(); at != order_.rend(); ++at) {
            if (ends_at(*at)) continue;
            for (const Value& v : at->node->inputs) at->passes = at->passes || is_needed(v);
        }
    }
    bool is_needed(const Visited& at) const
    {
        return at.wanted || at.passes || (to_leaves_ && at.node->is_leaf);
    }
    bool is_needed(const Value& v) const
    {
        if (!v.node->requires_grad) return false;
        const Visited* const at = find(*v.node);
        return at && is_needed(*at);
    }

    void add(const Value& v, const Tensor& cotangent)
    {
        Visited* const at = find(*v.node);
        if (!at) return; // no cotangent is required there
        if (at->cotangents.empty()) at->cotangents.resize(v.node->outputs.size());
        Tensor& sum = at->cotangents[v.index];
        sum = sum.defined() ? reprise::add(sum, cotangent) : cotangent;
    }

    void visit(Visited& at)
    {
        if (at.cotangents.empty() || !is_needed(at)) return;
        const Node& n = *at.node;
        call_hooks(n, at.cotangents);
        if (to_leaves_) store_gradients(n, at.cotangents);
        if (!at.passes) return;
        if (n.released) fail_released(n); // by a backward pass inside a hook
        // A copy, as a backward pass inside a user's gradient may release the node's inputs.
        const std::vector<Value> values = n.inputs;
        std::vector<Tensor> inputs, outputs;
        for (const Value& v : values) inputs.push_back(graph::make_tensor(v));
        for (std::uint32_t i = 0; i < n.outputs.size(); ++i)
            outputs.push_back(graph::make_tensor({at.node, i}));
        const auto wanted = std::make_unique<bool[]>(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) wanted[i] = is_needed(values[i]);
        // Moves the cotangents unless they are requested, so that their memory is freed after this call.
        const std::vector<Tensor> given = at.wanted ? at.cotangents : std::move(at.cotangents);
        std::vector<Tensor> d = node_vjp({n, inputs, outputs, given, {wanted.get(), values.size()}});
        for (graph::Scope* s = graph::current_scope(); s; s = s->outer()) s->differentiated(n, d);
        for (std::size_t i = 0; i < d.size(); ++i)
            if (wanted[i] && d[i].defined()) pass_on(n, i, values[i], d[i]);
    }

    static void call_hooks(const Node& n, std::vector<Tensor>& cotangents)
    {
        if (const auto owner = graph::owner_of_leaf(n)) { // the cell's current hooks
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
            if (given.dtype() != cotangent.dtype() || !same(given.shape(), cotangent.shape()))
                detail::fail(ErrorKind::shape, "register_hook", "A hook gave ", name_of(given.dtype()),
                             to_string(given.shape()), " for a gradient of ", name_of(cotangent.dtype()),
                             to_string(cotangent.shape()), ": give one of the same shape and dtype.");
            cotangent = given;
        }
    }

    void store_gradients(const Node& n, const std::vector<Tensor>& cotangents)
    {
        const auto store = [this](const std::shared_ptr<graph::Cell>& owner, const Tensor& cotangent) {
            if (!owner || !cotangent.defined()) return;
            if (to_) to_->emplace_back(owner, copied(cotangent));
            else add_to_grad(owner, cotangent);
        };
        if (n.is_leaf) store(graph::owner_of_leaf(n), cotangents[0]);
        else if (n.notes)
            for (std::size_t i = 0; i < n.notes->retained.size(); ++i)
                store(n.notes->retained[i].lock(), cotangents[i]);
    }

    void pass_on(const Node& n, std::size_t i, const Value& input, const Tensor& cotangent)
    {
        const graph::TensorType& type = input.type();
        const Value given = graph::read(cotangent);
        const graph::TensorType& found = given.type();
        if (found.dtype != type.dtype || !shape_fits(n, found.shape, type.shape))
            detail::fail(ErrorKind::internal, n.op->name, "The gradient of input (", i, ") is ",
                         name_of(found.dtype), to_string(found.shape), " but the input is ",
                         name_of(type.dtype), to_string(type.shape), ".");
        add(input, same(found.shape, type.shape) ? cotangent : reshape(cotangent, type.shape));
    }

    // Compares shapes; sizes that are equal only by a guard of the recording may be different expressions.
    static bool shape_fits(const Node& n, const Shape& found, const Shape& shape)
    {
        if (found.size() != shape.size()) return false;
        for (std::size_t d = 0; d < shape.size(); ++d) {
            if (found[d].is_constant() && shape[d].is_constant() && !same(found[d], shape[d])) return false;
            shape::require_equal(n.op->name, found[d], shape[d], [] {
                return std::string("A gradient's shape differs from that of what it belongs to.");
            });
        }
        return true;
    }

    // Returns a copy in a new cell, as the cotangent may be the caller's tensor.
    Tensor copied(const Tensor& cotangent) const
    {
        return options_.create_graph ? cotangent.snapshot() : graph::detached_copy(cotangent);
    }

    void add_to_grad(const std::shared_ptr<graph::Cell>& owner, const Tensor& cotangent) const
    {
        const Tensor tensor(owner);
        const std::shared_ptr<graph::Cell> before = graph::grad_to_add_to(tensor);
        const Tensor sum = before ? reprise::add(Tensor(before), cotangent) : copied(cotangent);
        graph::set_grad_of(tensor, sum.cell());
    }

    void release()
    {
        std::vector<const Node*> used;
        for (const Visited& at : order_) {
            if (!at.passes) continue;
            const Node& n = *at.node;
            n.released = true;
            if (n.notes) // no later pass visits this node
                for (const auto& hooks : n.notes->hooks)
                    if (hooks) hooks->clear();
            used.push_back(&n);
        }
        for (auto from = used.begin(); from != used.end();) { // one device at a time
            const auto& evaluator = (*from)->evaluator;
            const auto to =
                std::partition(from, used.end(), [&](const Node* n) { return n->evaluator == evaluator; });
            evaluator->release({from, to});
            from = to;
        }
    }

    WalkOptions options_;
    bool to_leaves_;
    Gradients* to_;
    std::vector<Visited> order_;                        // newest first
    std::unordered_map<const Node*, Visited*> visited_; // in order_
};

// Differentiates the op's decomposition into simpler ops, which is called on identities of the inputs.  The walk ends
// at these, so nodes that the inputs depend on are not visited twice.
std::vector<Tensor> vjp_by_decomposition(const graph::VjpArguments& a)
{
    std::vector<Tensor> inputs;
    std::vector<Value> values;
    const bool mode = graph::grad_mode();
    {
        AutoGradMode on(true);
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
    Callbacks callbacks;
    {
        const graph::Scoped in_progress(current_callbacks, &callbacks);
        Walk walk(outputs, {}, true, options);
        walk.run(outputs, seeds);
    }
    for (const auto& callback : callbacks) callback();
}

bool stores_gradients() { return current_callbacks != nullptr; }

void queue_callback(std::function<void()> function)
{
    if (!current_callbacks)
        detail::fail(ErrorKind::state, "queue_callback",
                     "No backward pass is in progress on this thread: call it from a hook of a tensor.");
    current_callbacks->push_back(std::move(function));
}

Gradients gradients_of_leaves(std::span<const Value> outputs, std::span<const Tensor> seeds,
                              const WalkOptions& options)
{
    Gradients found;
    Walk walk(outputs, {}, true, options, &found);
    walk.run(outputs, seeds);
    return found;
}

std::vector<Tensor> cotangents_of(std::span<const Value> outputs, std::span<const Tensor> seeds,
                                  std::span<const Value> inputs, const WalkOptions& options)
{
    Walk walk(outputs, inputs, false, options);
    walk.run(outputs, seeds);
    std::vector<Tensor> out;
    for (const Value& v : inputs) out.push_back(walk.cotangent(v));
    return out;
}

std::vector<Tensor> node_vjp(const graph::VjpArguments& a)
{
    const graph::Scoped no_scope(graph::current_scope(), nullptr); // scopes do not see the ops of a VJP
    const graph::Op& op = *a.node.op;
    if (a.node.gradient) return a.node.gradient->vjp(a);
    const graph::NoAutocast in_given_dtypes;
    const ops::IndexChecksOff checks_off; // indices were checked in the forward pass
    if (op.vjp) return op.vjp(a);
    if (op.decompose) return vjp_by_decomposition(a);
    detail::fail(ErrorKind::internal, op.name, "There is no gradient for this op, yet it is on the tape.");
}

} // namespace reprise::autograd
