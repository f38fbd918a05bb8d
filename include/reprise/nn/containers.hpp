// Modules of modules.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/error.hpp>
#include <reprise/nn/module.hpp>

namespace reprise::detail {

// Error(argument) for a module of another type.
template <class M> M& module_as(nn::Module& module, const std::string& name)
{
    if (auto* found = dynamic_cast<M*>(&module)) return *found;
    fail(ErrorKind::argument, "at", "The module (", name, ") is of another type than was asked for.");
}

// What a container takes: a module that it takes over, or a pointer to one, which it shares.
template <class M>
concept OwnedModule = std::derived_from<M, nn::Module> && !std::is_const_v<M>;
template <class M> std::shared_ptr<nn::Module> owned_module(std::shared_ptr<M> module) { return module; }
template <OwnedModule M> std::shared_ptr<nn::Module> owned_module(M&& module)
{
    return std::make_shared<M>(std::forward<M>(module));
}
template <class M>
concept Ownable = requires(M&& module)
{
    owned_module(std::forward<M>(module));
};

} // namespace reprise::detail

namespace reprise::nn {

// One after the other: nn::Sequential net(nn::Linear(784, 128), nn::ReLU(), nn::make<nn::Linear>(128, 10)).
// The children are named "0", "1", ...
class Sequential : public Module {
public:
    using Module::Module;
    Sequential() = default;
    template <detail::Ownable... Modules>
    requires(sizeof...(Modules) > 0) explicit Sequential(Modules&&... modules)
    {
        (push_back(std::forward<Modules>(modules)), ...);
    }
    Tensor forward(Tensor x) override;
    void push_back(std::shared_ptr<Module>);
    template <detail::OwnedModule M> void push_back(M&& module)
    {
        push_back(detail::owned_module(std::forward<M>(module)));
    }
    std::size_t size() const noexcept { return modules_.size(); }
    bool empty() const noexcept { return modules_.empty(); }
    Module& at(std::size_t index) const; // Error(argument) for one that there is not
    Module& operator[](std::size_t index) const { return at(index); }
    // The same as the type that it was made with: net.at<nn::Linear>(0).
    template <class M> M& at(std::size_t index) const
    {
        return detail::module_as<M>(at(index), std::to_string(index));
    }
    // for (const auto& module : net) x = (*module)(x);
    auto begin() const noexcept { return modules_.begin(); }
    auto end() const noexcept { return modules_.end(); }

private:
    std::vector<std::shared_ptr<Module>> modules_;
};

// Modules in an order, named "0", "1", ...; call them as you like.  An index may be negative: it counts from the end.
// Error(argument) for one that there is not, a null pointer, or a module that this one lies in.
class ModuleList final : public Module {
public:
    using Module::Module;
    ModuleList() = default;
    template <detail::Ownable... Modules>
    requires(sizeof...(Modules) > 0) explicit ModuleList(Modules&&... modules)
    {
        (push_back(std::forward<Modules>(modules)), ...);
    }
    explicit ModuleList(const std::vector<std::shared_ptr<Module>>& modules) { extend(modules); }

    std::size_t size() const noexcept { return modules_.size(); }
    bool empty() const noexcept { return modules_.empty(); }
    Module& operator[](std::int64_t index) const;
    // The same as the type that it was made with: list.at<nn::LSTM>(0).
    template <class M> M& at(std::int64_t index) const
    {
        return detail::module_as<M>((*this)[index], std::to_string(index));
    }
    // for (const auto& module : list) x = (*module)(x);
    auto begin() const noexcept { return modules_.begin(); }
    auto end() const noexcept { return modules_.end(); }

    ModuleList& append(std::shared_ptr<Module>);
    template <detail::OwnedModule M> ModuleList& append(M&& module)
    {
        return append(detail::owned_module(std::forward<M>(module)));
    }
    template <detail::Ownable M> void push_back(M&& module)
    {
        append(detail::owned_module(std::forward<M>(module)));
    }
    ModuleList& extend(const std::vector<std::shared_ptr<Module>>&); // all of them or none
    void insert(std::int64_t index, std::shared_ptr<Module>);        // before the one that stands there
    void set(std::int64_t index, std::shared_ptr<Module>);           // in the place of the one there
    std::shared_ptr<Module> pop(std::int64_t index = -1);

private:
    std::size_t place(const char* op, std::int64_t index) const;
    void replace(std::vector<std::shared_ptr<Module>>);

    std::vector<std::shared_ptr<Module>> modules_;
};

// Modules by name, in the order of insertion.  Error(argument) for a name that there is not, is empty or has a dot, a
// null pointer, or a module that this one lies in.
class ModuleDict final : public Module {
public:
    using Items = std::vector<std::pair<std::string, std::shared_ptr<Module>>>;
    using Module::Module;
    ModuleDict() = default;
    explicit ModuleDict(const Items& items) { update(items); }

    std::size_t size() const noexcept { return items_.size(); }
    bool empty() const noexcept { return items_.empty(); }
    bool contains(const std::string& name) const noexcept;
    Module& operator[](const std::string& name) const; // makes none
    template <class M> M& at(const std::string& name) const
    {
        return detail::module_as<M>((*this)[name], name);
    }
    std::vector<std::string> keys() const;
    std::vector<std::shared_ptr<Module>> values() const;
    const Items& items() const noexcept { return items_; }

    // Under a name that there is, it takes the place of the one there.
    void insert(const std::string& name, std::shared_ptr<Module>);
    template <detail::OwnedModule M> void insert(const std::string& name, M&& module)
    {
        insert(name, detail::owned_module(std::forward<M>(module)));
    }
    void update(const Items&); // inserts all of them or none
    std::shared_ptr<Module> pop(const std::string& name);
    void clear();

private:
    Items::const_iterator find(const char* op, const std::string& name) const;
    void replace(Items);

    Items items_;
};

} // namespace reprise::nn
