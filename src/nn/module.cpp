#include <reprise/nn/module.hpp>

#include <algorithm>
#include <unordered_set>

#include <reprise/autograd/anomaly.hpp>
#include <reprise/autograd/grad.hpp>
#include <reprise/autograd/hooks.hpp>

namespace reprise::nn {

using detail::fail;

Tensor Module::forward(Tensor)
{
    fail(ErrorKind::state, "module",
         "This module has no forward(Tensor): override it, or call the members by name.");
}

namespace {

template <class List, class Hook> HookHandle add_to(std::shared_ptr<List>& list, Hook hook)
{
    if (!list) list = std::make_shared<List>();
    return {list, list->add(std::move(hook))};
}

// What a hook gave, else what there was.
void replace(Tensor& t, Tensor given)
{
    if (given.defined()) t = std::move(given);
}

} // namespace

HookHandle Module::register_forward_pre_hook(ForwardPreHook hook)
{
    return add_to(pre_hooks_, std::move(hook));
}
HookHandle Module::register_forward_hook(ForwardHook hook) { return add_to(hooks_, std::move(hook)); }
HookHandle Module::register_full_backward_hook(BackwardHook hook)
{
    return add_to(backward_hooks_, std::move(hook));
}

Tensor Module::operator()(Tensor x, Place where)
{
    const detail::Place place(where.location);
    if (pre_hooks_)
        for (const auto& hook : pre_hooks_->hooks()) replace(x, hook(*this, x));
    if (!checkpoint_) return forward_watched(x);
    return checkpoint(
        *checkpoint_, [this](const Tensor& in) { return forward_watched(in); }, x);
}

void Module::set_checkpoint(std::optional<CheckpointOptions> options) { checkpoint_ = std::move(options); }

Tensor Module::forward_watched(const Tensor& x)
{
    const bool watched = backward_hooks_ && !backward_hooks_->hooks().empty() && grad_enabled();
    const Tensor in = watched && x.requires_grad() ? detail::boundary(x) : x;
    Tensor y = forward(in);
    if (hooks_)
        for (const auto& hook : hooks_->hooks()) replace(y, hook(*this, in, y));
    if (!watched || !y.requires_grad()) return y;
    y = detail::boundary(y);
    const auto arrived =
        std::make_shared<Tensor>(); // the gradient by the output, until that by the input is there
    y.register_hook([this, arrived, in](const Tensor& g) {
        if (in.requires_grad()) *arrived = g;
        else
            for (const auto& hook : backward_hooks_->hooks()) hook(*this, Tensor(), g);
        return Tensor();
    });
    if (in.requires_grad())
        in.register_hook([this, arrived](const Tensor& g) {
            const Tensor by_output = std::exchange(*arrived, Tensor());
            Tensor by_input = g;
            for (const auto& hook : backward_hooks_->hooks())
                replace(by_input, hook(*this, by_input, by_output));
            return by_input;
        });
    return y;
}

void Module::check_name(const char* op, const std::string& name) const
{
    if (name.empty() || name.find('.') != std::string::npos)
        fail(ErrorKind::argument, op, "The name (", name, ") must have at least one character and no dot.");
    const auto same = [&](const auto& entry) { return entry.first == name; };
    if (std::any_of(parameters_.begin(), parameters_.end(), same) ||
        std::any_of(buffers_.begin(), buffers_.end(), same) ||
        std::any_of(children_.begin(), children_.end(), [&](const Child& c) { return c.name == name; }))
        fail(ErrorKind::argument, op, "The name (", name, ") is registered already: give each its own.");
}

Variable Module::register_parameter(const std::string& name, Variable value)
{
    check_name("register_parameter", name);
    if (!value.defined())
        fail(ErrorKind::argument, "register_parameter", "The parameter (", name,
             ") is undefined: make it first.");
    parameters_.emplace_back(name, value);
    return value;
}

Variable Module::register_buffer(const std::string& name, Variable value)
{
    check_name("register_buffer", name);
    if (!value.defined())
        fail(ErrorKind::argument, "register_buffer", "The buffer (", name, ") is undefined: make it first.");
    buffers_.emplace_back(name, value);
    return value;
}

void Module::register_module(const std::string& name, Module& module)
{
    check_name("register_module", name);
    if (module.contains(this))
        fail(ErrorKind::argument, "register_module", "The module (", name,
             ") contains the one that it is to be in.");
    children_.push_back({name, &module, nullptr});
}

void Module::register_module(const std::string& name, std::shared_ptr<Module> module)
{
    if (!module)
        fail(ErrorKind::argument, "register_module", "The module (", name,
             ") is a null pointer: make it first.");
    register_module(name, *module);
    children_.back().owned = std::move(module);
}

void Module::replace_modules(const Children& children)
{
    std::vector<Child> before = std::exchange(children_, {});
    try {
        for (const auto& [name, module] : children) register_module(name, module);
    } catch (...) {
        children_ = std::move(before);
        throw;
    }
}

bool Module::contains(const Module* other) const
{
    return this == other || std::any_of(children_.begin(), children_.end(),
                                        [&](const Child& c) { return c.module->contains(other); });
}

void Module::collect(const std::string& prefix, Named Module::*list, Named& to) const
{
    for (const auto& [name, value] : this->*list) to.emplace_back(prefix + name, value);
    for (const Child& child : children_) child.module->collect(prefix + child.name + ".", list, to);
}

namespace {
using Named = std::vector<std::pair<std::string, Variable>>;
Named each_once(Named all)
{
    std::unordered_set<const void*> seen;
    std::erase_if(all, [&](const auto& entry) { return !seen.insert(entry.second.cell().get()).second; });
    return all;
}
} // namespace

Module::Named Module::named_parameters() const
{
    Named all;
    collect("", &Module::parameters_, all);
    return each_once(std::move(all));
}

Module::Named Module::named_buffers() const
{
    Named all;
    collect("", &Module::buffers_, all);
    return each_once(std::move(all));
}

Module::Named Module::state() const
{
    Named all;
    collect("", &Module::parameters_, all);
    collect("", &Module::buffers_, all);
    return all;
}

std::vector<Variable> Module::parameters() const
{
    std::vector<Variable> out;
    for (auto& entry : named_parameters()) out.push_back(std::move(entry.second));
    return out;
}

void Module::train(bool on)
{
    training_.set(on);
    for (const Child& child : children_) child.module->train(on);
}

void Module::zero_grad()
{
    for (Variable& parameter : parameters()) parameter.zero_grad();
}

} // namespace reprise::nn
