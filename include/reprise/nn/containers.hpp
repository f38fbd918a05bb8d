// Modules that contain other modules.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/error.hpp>
#include <reprise/nn/module.hpp>

namespace reprise::detail {

// Returns the module as an M; throws Error(argument) for a module of another type.
template <class M> M& module_as(nn::Module& module, const std::string& name)
{
    if (auto* found = dynamic_cast<M*>(&module)) return *found;
    fail(ErrorKind::argument, "at", "The module (", name, ") is of another type than was requested.");
}

// The arguments that a container accepts: a module, which is moved into it, or a shared pointer to
// one, which it shares.
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

// A module with its name, as in Sequential({{"fc", Linear(4, 8)}, {"act", ReLU()}}).
struct NamedModule {
    // Takes a module, which is moved into this one, or a shared pointer to one.
    template <detail::Ownable M> NamedModule(std::string text, M&& given)
        : name(std::move(text)), module(detail::owned_module(std::forward<M>(given)))
    {}
    std::string name;               // not empty and without a dot
    std::shared_ptr<Module> module; // not null
};

// Calls its modules one after the other, each with the result of the previous one; without modules the result
// is x:
//
//     nn::Sequential net(nn::Linear(784, 128), nn::ReLU(), nn::make<nn::Linear>(128, 10));
//
// The children are named "0", "1", ... by their indices, unless another name is given.
class Sequential : public Module {
public:
    REPRISE_LAYER(Sequential)
    using Module::Module;
    Sequential() = default; // without modules
    // Adds these modules in this order, as push_back does.
    template <detail::Ownable... Modules>
    requires(sizeof...(Modules) > 0) explicit Sequential(Modules&&... modules)
    {
        (push_back(std::forward<Modules>(modules)), ...);
    }
    // Adds these modules under these names: Sequential({{"fc", Linear(4, 8)}, {"act", ReLU()}}).
    explicit Sequential(std::initializer_list<NamedModule> modules)
    {
        for (const NamedModule& m : modules) push_back(m.name, m.module);
    }
    Tensor forward(Tensor x) override;
    // Appends a module, which is shared with the caller.  Throws Error(argument) for a null pointer.
    void push_back(std::shared_ptr<Module>);
    // The same under a name.  Also throws Error(argument) for a name that exists already, is empty or has a dot.
    void push_back(const std::string& name, std::shared_ptr<Module>);
    // Appends a module, which is moved into this one.
    template <detail::OwnedModule M> void push_back(M&& module)
    {
        push_back(detail::owned_module(std::forward<M>(module)));
    }
    // The same under a name.
    template <detail::OwnedModule M> void push_back(const std::string& name, M&& module)
    {
        push_back(name, detail::owned_module(std::forward<M>(module)));
    }
    // push_back() of a module or a shared pointer; returns this one.
    template <detail::Ownable M> Sequential& append(M&& module)
    {
        push_back(detail::owned_module(std::forward<M>(module)));
        return *this;
    }
    // Appends all modules of another container, which shares them from then on; returns this one.
    template <class Modules> Sequential& extend(const Modules& modules)
    {
        for (const std::shared_ptr<Module>& module : modules) push_back(module);
        return *this;
    }
    std::size_t size() const noexcept { return modules_.size(); } // the number of modules
    bool empty() const noexcept { return modules_.empty(); }      // whether there are no modules
    bool is_empty() const noexcept { return empty(); }            // as empty()
    Module& at(std::size_t index) const;                          // Error(argument) for an index out of range
    Module& operator[](std::size_t index) const { return at(index); } // as at()
    std::shared_ptr<Module> ptr(std::size_t index) const; // at() as a pointer, which shares the module
    // Returns the module as its own type: net.at<nn::Linear>(0).  Also throws Error(argument) for another type.
    template <class M> M& at(std::size_t index) const
    {
        return detail::module_as<M>(at(index), std::to_string(index));
    }
    // Iterates over the modules: for (auto& layer : net) x = layer(x), or layer->forward(x).
    auto begin() const noexcept { return modules_.begin(); }
    auto end() const noexcept { return modules_.end(); } // past the last module

private:
    std::vector<ModulePointer> modules_;
};

// A list of modules, named "0", "1", ...  It has no forward(): call its modules yourself.  A negative index
// counts from the end.  Functions throw Error(argument) for an index out of range, a null pointer, or a
// module that contains this one; the list has not changed then.
class ModuleList final : public Module {
public:
    REPRISE_LAYER(ModuleList)
    using Module::Module;
    ModuleList() = default; // without modules
    // Adds these modules in this order, as append() does.
    template <detail::Ownable... Modules>
    requires(sizeof...(Modules) > 0) explicit ModuleList(Modules&&... modules)
    {
        (push_back(std::forward<Modules>(modules)), ...);
    }
    // Adds these modules, which are shared with the caller.
    explicit ModuleList(const std::vector<std::shared_ptr<Module>>& modules) { extend(modules); }

    std::size_t size() const noexcept { return modules_.size(); } // the number of modules
    bool empty() const noexcept { return modules_.empty(); }      // whether there are no modules
    bool is_empty() const noexcept { return empty(); }            // as empty()
    Module& operator[](std::int64_t index) const;                 // the module at the index
    // Returns the module as its own type: list.at<nn::LSTM>(0).  Also throws Error(argument) for another type.
    template <class M> M& at(std::int64_t index) const
    {
        return detail::module_as<M>((*this)[index], std::to_string(index));
    }
    std::shared_ptr<Module> ptr(std::int64_t index) const; // the module as a pointer, which shares it
    // Iterates over the modules: for (auto& layer : list) x = layer(x), or layer->forward(x).
    auto begin() const noexcept { return modules_.begin(); }
    auto end() const noexcept { return modules_.end(); } // past the last module

    ModuleList& append(std::shared_ptr<Module>); // adds a shared module at the end; returns this list
    // Adds a module at the end, which is moved into the list; returns this list.
    template <detail::OwnedModule M> ModuleList& append(M&& module)
    {
        return append(detail::owned_module(std::forward<M>(module)));
    }
    // Appends a module or a shared pointer to one.
    template <detail::Ownable M> void push_back(M&& module)
    {
        append(detail::owned_module(std::forward<M>(module)));
    }
    ModuleList& extend(const std::vector<std::shared_ptr<Module>>&); // adds all of them at the end, or none
    // The same for the modules of another container, which shares them from then on.
    template <class Modules>
    requires std::derived_from<Modules, Module> ModuleList& extend(const Modules& modules)
    {
        return extend(std::vector<std::shared_ptr<Module>>(modules.begin(), modules.end()));
    }
    // Inserts a shared module before the one at the index, or at the end for size().
    void insert(std::int64_t index, std::shared_ptr<Module>);
    // The same for a module that is moved into the list.
    template <detail::OwnedModule M> void insert(std::int64_t index, M&& module)
    {
        insert(index, detail::owned_module(std::forward<M>(module)));
    }
    void set(std::int64_t index, std::shared_ptr<Module>); // replaces the module at the index
    std::shared_ptr<Module> pop(std::int64_t index = -1);  // removes the module at the index and returns it

private:
    std::size_t position(const char* op, std::int64_t index) const;
    void replace(std::vector<ModulePointer>);

    std::vector<ModulePointer> modules_;
};

// Modules by name, in the order of insertion.  It has no forward(): call its modules yourself.  Functions
// throw Error(argument) for a name that does not exist, a new name that is empty or has a dot, a null
// pointer, or a module that contains this one; nothing has changed then.
class ModuleDict final : public Module {
public:
    REPRISE_LAYER(ModuleDict)
    using Items = std::vector<std::pair<std::string, std::shared_ptr<Module>>>; // names and their modules
    using Module::Module;
    ModuleDict() = default; // without modules
    // Adds these modules, which are shared with the caller; of equal names the last one is used.
    explicit ModuleDict(const Items& items) { update(items); }
    // The same for modules that are moved into this one: ModuleDict({{"fc", Linear(4, 8)}}).
    explicit ModuleDict(std::initializer_list<NamedModule> modules)
    {
        for (const NamedModule& m : modules) insert(m.name, m.module);
    }

    std::size_t size() const noexcept { return items_.size(); } // the number of modules
    bool empty() const noexcept { return items_.empty(); }      // whether there are no modules
    bool is_empty() const noexcept { return empty(); }          // as empty()
    auto begin() const noexcept { return items_.begin(); }      // for loops over names and modules
    auto end() const noexcept { return items_.end(); }          // past the last one
    bool contains(const std::string& name) const noexcept;      // whether there is a module of this name
    Module& operator[](const std::string& name) const; // Error(argument) where there is none of this name
    // Returns the module as its own type: dict.at<nn::Linear>("fc").  Also throws Error(argument) for another type.
    template <class M> M& at(const std::string& name) const
    {
        return detail::module_as<M>((*this)[name], name);
    }
    std::vector<std::string> keys() const;                 // the names, in order
    std::vector<std::shared_ptr<Module>> values() const;   // the modules, in order
    const Items& items() const noexcept { return items_; } // names and modules, in order

    // Adds a shared module at the end; a module of the same name is replaced, at its position.
    void insert(const std::string& name, std::shared_ptr<Module>);
    // The same for a module that is moved into this one.
    template <detail::OwnedModule M> void insert(const std::string& name, M&& module)
    {
        insert(name, detail::owned_module(std::forward<M>(module)));
    }
    void update(const Items&);                            // inserts all of them, or none
    std::shared_ptr<Module> pop(const std::string& name); // removes the module of this name and returns it
    void clear();                                         // removes all modules

private:
    Items::const_iterator find(const char* op, const std::string& name) const;
    void replace(Items);

    Items items_;
};

} // namespace reprise::nn
