// Hooks on tensors, and retained gradients of tensors that are no leaves.
#include <reprise/hooks.hpp>

#include <numeric>

#include <reprise/ops/shapes.hpp>

#include "graph/cell.hpp"
#include "graph/notes.hpp"

namespace reprise {

using graph::Value;

namespace {

Value of_the_tape(const char* op, const Tensor& t)
{
    const Value v = graph::read(t);
    if (!graph::requires_grad(v))
        detail::fail(ErrorKind::state, op, "The tensor of (", name_of(v.type().dtype),
                     to_string(v.type().shape),
                     ") does not require a gradient, so none arrives: call requires_grad_() first.");
    return v;
}

std::shared_ptr<graph::GradHooks> hooks_of(const Value& v)
{
    if (const auto owner = graph::owner_of_leaf(*v.node)) {
        if (!owner->hooks) owner->hooks = std::make_shared<graph::GradHooks>();
        graph::notes_of(*v.node).hooks = {owner->hooks}; // they outlive the cell
        return owner->hooks;
    }
    auto& list = graph::notes_of(*v.node).hooks;
    list.resize(v.node->outputs.size());
    if (!list[v.index]) list[v.index] = std::make_shared<graph::GradHooks>();
    return list[v.index];
}

} // namespace

Tensor detail::boundary(const Tensor& t)
{
    std::vector<std::int64_t> dims(static_cast<std::size_t>(t.dim()));
    std::iota(dims.begin(), dims.end(), 0);
    return permute(t, dims);
}

HookHandle Tensor::register_hook(std::function<Tensor(const Tensor&)> hook) const
{
    if (!hook)
        detail::fail(ErrorKind::argument, "register_hook",
                     "The hook is a null function: give one that can be called.");
    const std::shared_ptr<graph::GradHooks> hooks = hooks_of(of_the_tape("register_hook", *this));
    return {hooks, hooks->add(std::move(hook))};
}

void Tensor::remove_hook(const HookHandle& hook) const { hook.remove(); }

void Tensor::retain_grad() const
{
    const Value v = of_the_tape("retain_grad", *this);
    if (v.node->is_leaf) return;
    auto& retained = graph::notes_of(*v.node).retained;
    retained.resize(v.node->outputs.size());
    retained[v.index] = cell_;
}

bool Tensor::retains_grad() const
{
    const Value v = graph::read(*this);
    return !v.node->is_leaf && v.node->notes && v.index < v.node->notes->retained.size() &&
           v.node->notes->retained[v.index].lock() == cell_;
}

} // namespace reprise
