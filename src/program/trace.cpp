#include "program/trace.hpp"

#include <algorithm>

#include <reprise/ops/creation.hpp>
#include <reprise/program.hpp>

namespace reprise::program {

using graph::Cell;
using graph::Value;

Trace::Trace(std::shared_ptr<eager::Context> context, std::uint32_t id)
    : context_(std::move(context)),
      id_(id), random_{symbol("seed_low"), symbol("seed_high"), symbol("random_base")}
{}

Trace::~Trace()
{
    if (succeeded_) return;
    for (const auto& owner : added_zero_grads_) owner->grad = nullptr;
}

Trace::State& Trace::state(const std::shared_ptr<Cell>& cell)
{
    if (auto found = by_cell_.find(cell.get()); found != by_cell_.end()) return states_[found->second];
    {
        graph::Suspend outside;
        cell->value.node->evaluator->evaluate({&cell->value, 1});
    }
    const graph::Node& n = *cell->value.node;
    if (n.evaluator.get() != context_.get())
        detail::fail(ErrorKind::device, "record", "The function uses a tensor of the device (",
                     n.evaluator->name(), ") but is recorded for (", context_->name(),
                     "): pass {.device = ...} to record(), or call set_default_device() before.");
    if (n.requires_grad && !n.is_leaf && graph::grad_mode())
        detail::fail(
            ErrorKind::state, "record",
            "The function uses a tensor that was computed outside and requires a gradient: no gradient can "
            "leave the program. Compute it inside, or detach() it.");
    const bool leaf = n.requires_grad && n.is_leaf;
    Value placeholder = graph::leaf(cell->value.type(), n.evaluator, nullptr, leaf);
    if (leaf) graph::set_owner(*placeholder.node, cell);
    by_cell_[cell.get()] = states_.size();
    states_.push_back({cell, placeholder, placeholder});
    if (auto owner = owner_by_grad_.find(cell.get()); owner != owner_by_grad_.end())
        states_.back().owner = owner->second;
    return states_.back();
}

Value Trace::read(const std::shared_ptr<Cell>& cell) { return state(cell).current; }

void Trace::assign(const std::shared_ptr<Cell>& cell, Value v)
{
    State& s = state(cell);
    s.current = std::move(v);
    s.assigned = true;
}

std::shared_ptr<Cell> Trace::grad(const std::shared_ptr<Cell>& owner)
{
    if (auto found = grad_by_owner_.find(owner.get()); found != grad_by_owner_.end())
        return grads_[found->second].value;
    if (owner->grad) owner_by_grad_[owner->grad.get()] = owner;
    return owner->grad;
}

std::shared_ptr<Cell> Trace::grad_to_add_to(const std::shared_ptr<Cell>& owner)
{
    if (!owner->grad &&
        !grad_by_owner_.count(owner.get())) { // the gradient becomes state that starts at zero
        graph::Suspend outside;
        owner->grad = zeros_like(Tensor(owner)).cell();
        added_zero_grads_.push_back(owner);
    }
    return grad(owner);
}

void Trace::set_grad(const std::shared_ptr<Cell>& owner, std::shared_ptr<Cell> g)
{
    if (auto found = grad_by_owner_.find(owner.get()); found != grad_by_owner_.end()) {
        grads_[found->second].value = std::move(g);
        return;
    }
    if (g && owner->grad &&
        by_cell_.count(owner->grad.get())) { // it was read, so the gradient accumulates and is state
        assign(owner->grad, graph::read(Tensor(g)));
        return;
    }
    grad_by_owner_[owner.get()] = grads_.size();
    grads_.push_back({owner, std::move(g)});
}

void Trace::read_mode(const std::shared_ptr<const graph::Switch>& mode)
{
    const auto is_same = [&](const ReadMode& m) { return m.mode == mode; };
    if (std::any_of(modes_.begin(), modes_.end(), is_same) ||
        std::find(set_modes_.begin(), set_modes_.end(), mode) != set_modes_.end())
        return;
    modes_.push_back({mode, mode->on});
}

void Trace::set_mode(const std::shared_ptr<const graph::Switch>& mode) { set_modes_.push_back(mode); }

void Trace::read_autocast(const graph::Autocast& state) { autocast_ = {state.on, state.dtype}; }

void Trace::ReadAutocast::check() const
{
    const graph::Autocast& now = graph::ambient().autocast;
    if (now.on == on && (!on || now.dtype == dtype)) return;
    const auto text = [](bool is_on, DType to) { return is_on ? name_of(to) : "off"; };
    detail::fail(ErrorKind::state, "program", "The program was recorded with autocast (", text(on, dtype),
                 ") and is called with autocast (", text(now.on, now.dtype),
                 "): call it within an equal guard, or set one in its function.");
}

void Trace::ReadMode::check() const
{
    const auto name = [](bool value) { return value ? "on" : "off"; };
    if (const bool now = mode->on; now != on)
        detail::fail(ErrorKind::state, "program", "The program was recorded while ", mode->name, " was (",
                     name(on), "), which is (", name(now),
                     ") now: switch it back, as with train() or eval(), or call a program that was recorded "
                     "in this mode.");
}

graph::RandomState Trace::next_random()
{
    graph::RandomState r = random_;
    r.ordinal = r.ordinal + Dim(random_ops_++);
    return r;
}

} // namespace reprise::program
