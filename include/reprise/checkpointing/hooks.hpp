// Hooks on gradients, by layer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <reprise/tensor.hpp>

namespace reprise {

// Lists of hooks by layer, which a tensor's hook calls:
//
//     y.register_hook([&](const Tensor& g) { return hooks.invoke("block 3", g); });
//
// Several threads may use one manager concurrently. No lock is held while a hook runs, so a hook may add and remove
// hooks; an invocation calls those that were registered when it began.
class BackwardHookManager {
public:
    using Handle = std::uint64_t; // identifies a hook, uniquely in the process; never 0
    // Receives a gradient. A returned tensor replaces it; an undefined one leaves it unchanged, as with
    // Tensor::register_hook.
    using Hook = std::function<Tensor(const Tensor& gradient)>;

    BackwardHookManager() = default;
    BackwardHookManager(const BackwardHookManager&) = delete;
    BackwardHookManager& operator=(const BackwardHookManager&) = delete;

    // Adds a hook for a layer.  Error(argument) for an empty layer or a null hook.
    Handle register_hook(const std::string& layer, Hook);
    bool remove(Handle);                                // removes a hook; returns whether there was one
    std::size_t remove_layer(const std::string& layer); // removes the hooks of a layer; returns their number
    void clear();                                       // removes all hooks

    // Passes a gradient through the layer's hooks in the order of their registration and returns the result; without
    // hooks the gradient itself. Error(argument) for an undefined gradient, Error(shape) if a hook returns another
    // shape or dtype.
    Tensor invoke(const std::string& layer, const Tensor& gradient) const;

    std::size_t size() const;                         // the number of all hooks
    std::size_t size(const std::string& layer) const; // the number of a layer's hooks

private:
    using Entry = std::pair<Handle, std::shared_ptr<const Hook>>;
    mutable std::mutex mutex_;                // never held while a hook runs or is destroyed
    std::multimap<std::string, Entry> hooks_; // by layer, then in the order of registration
};

} // namespace reprise
