#include <reprise/autograd/anomaly.hpp>
#include <reprise/error.hpp>
#include <reprise/nn/containers.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace reprise::nn {

Tensor Sequential::forward(Tensor x)
{
    for (const ModulePointer& module : modules_) x = (*module)(std::move(x), Place(detail::present_place()));
    return x;
}

void Sequential::push_back(std::shared_ptr<Module> module)
{
    push_back(std::to_string(modules_.size()), std::move(module));
}

void Sequential::push_back(const std::string& name, std::shared_ptr<Module> module)
{
    register_module(name, module);
    modules_.emplace_back(std::move(module));
}

Module& Sequential::at(std::size_t index) const { return *ptr(index); }

std::shared_ptr<Module> Sequential::ptr(std::size_t index) const
{
    if (index >= modules_.size())
        detail::fail(ErrorKind::argument, "Sequential", "There is no module (", index, "): it has ",
                     modules_.size(), ".");
    return modules_[index];
}

// ---- ModuleList ----

std::size_t ModuleList::position(const char* op, std::int64_t index) const
{
    const auto places = static_cast<std::int64_t>(modules_.size());
    if (index < -places || index >= places)
        detail::fail(ErrorKind::argument, op, "There is no place (", index, ") in a list of (",
                     modules_.size(), ") modules.");
    return static_cast<std::size_t>(index < 0 ? index + places : index);
}

void ModuleList::replace(std::vector<ModulePointer> modules)
{
    Children children;
    for (const auto& module : modules) children.emplace_back(std::to_string(children.size()), module);
    replace_modules(children);
    modules_ = std::move(modules);
}

std::shared_ptr<Module> ModuleList::ptr(std::int64_t index) const
{
    return modules_[position("ModuleList", index)];
}

Module& ModuleList::operator[](std::int64_t index) const { return *ptr(index); }

ModuleList& ModuleList::append(std::shared_ptr<Module> module) { return extend({std::move(module)}); }

ModuleList& ModuleList::extend(const std::vector<std::shared_ptr<Module>>& more)
{
    auto modules = modules_;
    modules.insert(modules.end(), more.begin(), more.end());
    replace(std::move(modules));
    return *this;
}

void ModuleList::insert(std::int64_t index, std::shared_ptr<Module> module)
{
    const bool end = index == static_cast<std::int64_t>(modules_.size());
    const std::size_t at = end ? modules_.size() : position("insert", index);
    auto modules = modules_;
    modules.insert(modules.begin() + static_cast<std::ptrdiff_t>(at), std::move(module));
    replace(std::move(modules));
}

void ModuleList::set(std::int64_t index, std::shared_ptr<Module> module)
{
    auto modules = modules_;
    modules[position("set", index)] = std::move(module);
    replace(std::move(modules));
}

std::shared_ptr<Module> ModuleList::pop(std::int64_t index)
{
    auto modules = modules_;
    const auto at = modules.begin() + static_cast<std::ptrdiff_t>(position("pop", index));
    std::shared_ptr<Module> taken = *at;
    modules.erase(at);
    replace(std::move(modules));
    return taken;
}

// ---- ModuleDict ----

namespace {

auto named(const std::string& name)
{
    return [&name](const auto& item) { return item.first == name; };
}

} // namespace

ModuleDict::Items::const_iterator ModuleDict::find(const char* op, const std::string& name) const
{
    const auto found = std::find_if(items_.begin(), items_.end(), named(name));
    if (found != items_.end()) return found;
    std::string names;
    for (const auto& item : items_) names += (names.empty() ? "" : ", ") + item.first;
    detail::fail(ErrorKind::argument, op, "There is no module (", name, "): there are (", names, ").");
}

void ModuleDict::replace(Items items)
{
    replace_modules(items);
    items_ = std::move(items);
}

bool ModuleDict::contains(const std::string& name) const noexcept
{
    return std::any_of(items_.begin(), items_.end(), named(name));
}

Module& ModuleDict::operator[](const std::string& name) const { return *find("ModuleDict", name)->second; }

std::vector<std::string> ModuleDict::keys() const
{
    std::vector<std::string> out;
    for (const auto& item : items_) out.push_back(item.first);
    return out;
}

std::vector<std::shared_ptr<Module>> ModuleDict::values() const
{
    std::vector<std::shared_ptr<Module>> out;
    for (const auto& item : items_) out.push_back(item.second);
    return out;
}

void ModuleDict::insert(const std::string& name, std::shared_ptr<Module> module)
{
    update({{name, std::move(module)}});
}

void ModuleDict::update(const Items& more)
{
    Items items = items_;
    for (const auto& item : more) {
        const auto found = std::find_if(items.begin(), items.end(), named(item.first));
        if (found == items.end()) items.push_back(item);
        else found->second = item.second;
    }
    replace(std::move(items));
}

std::shared_ptr<Module> ModuleDict::pop(const std::string& name)
{
    const auto found = find("pop", name);
    std::shared_ptr<Module> taken = found->second;
    Items items = items_;
    items.erase(items.begin() + (found - items_.cbegin()));
    replace(std::move(items));
    return taken;
}

void ModuleDict::clear() { replace({}); }

} // namespace reprise::nn
