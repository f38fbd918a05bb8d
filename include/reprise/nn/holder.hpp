// Shared pointers to modules, like the modules of libtorch.
#pragma once
#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include <reprise/nn/module.hpp>

namespace reprise::nn {

// A shared pointer that creates its module and is called like the module itself.  Copies share the module.
// Containers and register_module() take it as they take any shared pointer.
//
//     struct NetImpl : nn::Module { ... };
//     REPRISE_MODULE(Net);              // class Net, a ModuleHolder<NetImpl>
//     Net net(64);                      // creates NetImpl(64)
//     auto parameters = net->parameters();
template <std::derived_from<Module> Impl> class ModuleHolder : public std::shared_ptr<Impl> {
public:
    // Creates the module without arguments.
    ModuleHolder() requires std::default_initializable<Impl> : std::shared_ptr<Impl>(std::make_shared<Impl>())
    {}
    ModuleHolder(std::nullptr_t) {} // null, until another one is assigned
    ModuleHolder(std::shared_ptr<Impl> module)
        : std::shared_ptr<Impl>(std::move(module)) {} // shares the module
    // Creates the module with these arguments.
    template <class Head, class... Tail>
    requires(!std::convertible_to<Head, std::shared_ptr<Impl>> &&
             std::constructible_from<Impl, Head, Tail...>) explicit ModuleHolder(Head&& head, Tail&&... tail)
        : std::shared_ptr<Impl>(std::make_shared<Impl>(std::forward<Head>(head), std::forward<Tail>(tail)...))
    {}
    // Calls the module, with its hooks.
    template <class... Arguments> decltype(auto) operator()(Arguments&&... arguments) const
    {
        return (**this)(std::forward<Arguments>(arguments)...);
    }
    operator Impl&() const noexcept { return **this; }                  // the module
    const std::shared_ptr<Impl>& ptr() const noexcept { return *this; } // as a shared pointer
    bool is_empty() const noexcept { return !*this; }                   // whether it is null
};

} // namespace reprise::nn

// Defines the class Name as a ModuleHolder of the class NameImpl: libtorch's TORCH_MODULE(Name).
#define REPRISE_MODULE(Name)                                                                                 \
    class Name : public ::reprise::nn::ModuleHolder<Name##Impl> {                                            \
    public:                                                                                                  \
        using ::reprise::nn::ModuleHolder<Name##Impl>::ModuleHolder;                                         \
        using Impl = Name##Impl;                                                                             \
    }
