#include <reprise/nn/module.hpp>

#include <algorithm>
#include <unordered_set>

namespace reprise::nn {

using detail::fail;

Tensor Module::forward(Tensor)
{
    fail(ErrorKind::state, "module",
         "This module has no forward(Tensor): override it, or call the members by name.");
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
    training_ = on;
    for (const Child& child : children_) child.module->train(on);
}

void Module::zero_grad()
{
    for (Variable& parameter : parameters()) parameter.zero_grad();
}

} // namespace reprise::nn
