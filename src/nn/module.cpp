#include <reprise/nn/module.hpp>

#include <algorithm>
#include <unordered_set>

#include <reprise/autograd/grad.hpp>
#include <reprise/ops/creation.hpp>

#include "nn/checks.hpp"

namespace reprise::nn {

using detail::fail;

// ---- moves ----

Module::~Module()
{
    for (Module* parent : parents_)
        std::erase_if(parent->children_, [this](const Child& c) { return c.module == this && !c.owned; });
    leave_children();
    if (self_) *self_ = nullptr;
}

Module::Module(Module&& other) noexcept
    : parents_(std::move(other.parents_)), training_(std::move(other.training_))
{
    take(other);
    for (Module* parent : parents_) take_place(other, *parent);
}

Module& Module::operator=(Module&& other)
{
    if (this == &other) return *this;
    // Modules that this one is registered in keep it under its names. In other parents of `other`, it replaces `other`.
    const auto own = static_cast<std::ptrdiff_t>(parents_.size());
    parents_.reserve(parents_.size() + other.parents_.size());
    leave_children();
    if (self_) *self_ = nullptr;
    take(other);
    training_ = std::move(other.training_);
    std::erase_if(other.parents_, [&](Module* parent) {
        if (std::find(parents_.begin(), parents_.begin() + own, parent) != parents_.begin() + own)
            return false;
        take_place(other, *parent);
        parents_.push_back(parent);
        return true;
    });
    return *this;
}

// Takes over the contents of the other module, which is empty afterwards.
void Module::take(Module& other) noexcept
{
    parameters_ = std::exchange(other.parameters_, {});
    buffers_ = std::exchange(other.buffers_, {});
    children_ = std::exchange(other.children_, {});
    pre_hooks_ = std::move(other.pre_hooks_);
    hooks_ = std::move(other.hooks_);
    backward_hooks_ = std::move(other.backward_hooks_);
    self_ = std::move(other.self_);
    checkpoint_ = std::exchange(other.checkpoint_, std::nullopt);
    empty_ = std::exchange(other.empty_, true);
    if (self_) *self_ = this;
    for (const Child& child : children_)
        if (!child.owned)
            std::replace(child.module->parents_.begin(), child.module->parents_.end(), &other, this);
}

// Replaces `other` by this module in a parent of `other`.
void Module::take_place(const Module& other, Module& parent) noexcept
{
    for (Child& child : parent.children_)
        if (child.module == &other && !child.owned) child.module = this;
}

void Module::leave_children() noexcept
{
    for (const Child& child : children_)
        if (!child.owned) std::erase(child.module->parents_, this);
    children_.clear();
}

// ---- registration ----

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

void Module::check_not_null(const std::string& name, const Module* module)
{
    if (!module)
        fail(ErrorKind::argument, "register_module", "The module (", name,
             ") is a null pointer: make it first.");
}

Variable Module::add_variable(const char* op, Named Module::*list, const std::string& name, Variable value)
{
    check_name(op, name);
    (this->*list).emplace_back(name, value);
    return value;
}

Variable Module::replace_parameter(const std::string& name, const std::string& form, const Tensor& buffer)
{
    const auto found = std::find_if(parameters_.begin(), parameters_.end(),
                                    [&](const auto& p) { return p.first == name && p.second.defined(); });
    if (found == parameters_.end())
        fail(ErrorKind::argument, "replace_parameter", "The module has no parameter (", name, ").");
    Variable to;
    if (buffer.requires_grad()) to = Variable(buffer, false);
    else static_cast<Tensor&>(to) = buffer; // the same tensor, which other layers may have, too
    buffers_.emplace_back(name + "." + form, to);
    found->second = Variable();
    return to;
}

void Module::add_child(const std::string& name, Module& module, std::shared_ptr<Module> owned)
{
    check_name("register_module", name);
    if (module.contains(this))
        fail(ErrorKind::argument, "register_module", "The module (", name,
             ") contains the one that it is to be in.");
    if (!owned) module.parents_.push_back(this);
    children_.push_back({name, &module, std::move(owned)});
}

void Module::unregister(const std::string& name)
{
    const auto named = [&](const auto& entry) { return entry.first == name; };
    if (std::erase_if(parameters_, named) + std::erase_if(buffers_, named) > 0) return;
    const auto child =
        std::find_if(children_.begin(), children_.end(), [&](const Child& c) { return c.name == name; });
    if (child == children_.end())
        fail(ErrorKind::argument, "unregister", "The module has no parameter, buffer or child (", name, ").");
    if (!child->owned) { // one entry for each name under which this module refers to it
        auto& parents = child->module->parents_;
        parents.erase(std::find(parents.begin(), parents.end(), this));
    }
    children_.erase(child);
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

// ---- lists of parameters, buffers and modules ----

void Module::collect(const std::string& prefix, Named Module::*list, bool recurse, Named& to) const
{
    for (const auto& [name, value] : this->*list)
        if (value.defined()) to.emplace_back(prefix + name, value);
    if (!recurse) return;
    for (const Child& child : children_) child.module->collect(prefix + child.name + ".", list, true, to);
}

namespace {

OrderedDict<Variable> each_once(const char* of, const std::vector<std::pair<std::string, Variable>>& all)
{
    std::unordered_set<const void*> seen;
    OrderedDict<Variable> out(of);
    for (const auto& [name, value] : all)
        if (seen.insert(value.cell().get()).second) out.insert(name, value);
    return out;
}

} // namespace

OrderedDict<Variable> Module::named_parameters(bool recurse) const
{
    Named all;
    collect("", &Module::parameters_, recurse, all);
    return each_once("parameter", all);
}

OrderedDict<Variable> Module::named_buffers(bool recurse) const
{
    Named all;
    collect("", &Module::buffers_, recurse, all);
    return each_once("buffer", all);
}

Parameters Module::parameters(bool recurse) const { return named_parameters(recurse).values(); }
std::vector<Variable> Module::buffers(bool recurse) const { return named_buffers(recurse).values(); }

Module::Named Module::state() const
{
    Named all;
    collect("", &Module::parameters_, true, all);
    collect("", &Module::buffers_, true, all);
    return all;
}

std::size_t Module::num_parameters() const
{
    std::size_t count = 0;
    for (const Variable& parameter : parameters())
        count += static_cast<std::size_t>(parameter.numel().value());
    return count;
}

ModulePointer Module::pointer(const Child& child)
{
    return child.owned ? ModulePointer(child.owned) : ModulePointer(child.module);
}

OrderedDict<ModulePointer> Module::named_children() const
{
    std::unordered_set<const Module*> seen;
    OrderedDict<ModulePointer> out("child");
    for (const Child& child : children_)
        if (seen.insert(child.module).second) out.insert(child.name, pointer(child));
    return out;
}

void Module::collect_modules(const std::string& name, ModulePointer self, OrderedDict<ModulePointer>& to)
{
    const auto has_this = [this](const auto& item) { return item.second.get() == this; };
    if (std::any_of(to.begin(), to.end(), has_this)) return;
    to.insert(name, std::move(self));
    for (const Child& child : children_)
        child.module->collect_modules(name.empty() ? child.name : name + "." + child.name, pointer(child),
                                      to);
}

OrderedDict<ModulePointer> Module::named_modules()
{
    OrderedDict<ModulePointer> out("module");
    collect_modules("", ModulePointer(this), out);
    return out;
}

std::vector<ModulePointer> Module::children() const { return named_children().values(); }

std::vector<ModulePointer> Module::modules(bool include_self)
{
    std::vector<ModulePointer> out = named_modules().values();
    if (!include_self) out.erase(out.begin());
    return out;
}

Tensor ModulePointer::operator()(Tensor x) const { return (**this)(std::move(x)); }
Tensor ModulePointer::forward(Tensor x) const { return (*this)->forward(std::move(x)); }

Module& Module::apply(const std::function<void(Module&)>& f)
{
    for (const ModulePointer& child : children()) child->apply(f);
    f(*this);
    return *this;
}

// ---- changes of the whole tree ----

void Module::train(bool on)
{
    training_.set(on);
    for (const Child& child : children_) child.module->train(on);
}

void Module::zero_grad(bool set_to_none)
{
    for (Variable& parameter : parameters()) {
        const Tensor grad = parameter.grad();
        parameter.zero_grad();
        if (!set_to_none && grad.defined()) parameter.set_grad(zeros_like(grad));
    }
}

Module& Module::requires_grad_(bool on)
{
    for (Variable& parameter : parameters()) parameter.requires_grad_(on);
    return *this;
}

Module& Module::to(DType dtype)
{
    convert(std::nullopt, dtype);
    return *this;
}
Module& Module::to(const Device& device)
{
    convert(device, std::nullopt);
    return *this;
}
Module& Module::to(const Device& device, DType dtype)
{
    convert(device, dtype);
    return *this;
}

void Module::convert(const std::optional<Device>& device, std::optional<DType> dtype)
{
    if (dtype && !is_floating(*dtype))
        fail(ErrorKind::dtype, "to", "A module can't be of (", name_of(*dtype),
             "), which has no gradients: give a floating dtype.");
    check_not_recording("to", "A module can't be changed");
    const no_grad guard;
    std::vector<std::pair<Variable, Tensor>> ready; // all computed before the first change, as one may fail
    for (const auto& list : {named_parameters(), named_buffers()})
        for (const auto& [name, value] : list) {
            const DType wanted = dtype && is_floating(value.dtype()) ? *dtype : value.dtype();
            const Device target = device ? *device : value.device();
            if (wanted == value.dtype() && target == value.device()) continue;
            ready.emplace_back(value, value.detach().to(target, wanted));
        }
    for (auto& [value, other] : ready) {
        value.zero_grad();
        detail::replace_value(value, other);
    }
}

} // namespace reprise::nn
