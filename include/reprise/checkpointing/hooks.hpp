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
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

// Lists of hooks that a backward pass is given as one:
//
//     y.register_hook([&](const Tensor& g) { return hooks.invoke("block 3", g); });
//
// Several threads may use it at once.  Nothing is locked while a hook runs, so a hook may add and remove
// hooks: an invocation under way goes through those that there were when it began.
class BackwardHookManager {
public:
    using Handle = std::uint64_t; // one for each hook of the process; none is 0
    // What it gives takes the gradient's place, an undefined tensor leaves it, as by Tensor::register_hook.
    using Hook = std::function<Tensor(const Tensor& gradient)>;

    BackwardHookManager() = default;
    BackwardHookManager(const BackwardHookManager&) = delete;
    BackwardHookManager& operator=(const BackwardHookManager&) = delete;

    Handle register_hook(const std::string& layer, Hook); // Error(argument) for an empty layer or a null hook
    bool remove(Handle);                                  // whether there was such a hook
    std::size_t remove_layer(const std::string& layer);   // how many there were
    void clear();

    // The gradient through the layer's hooks in the order of their registration, each with what the one
    // before gave; as it is where there are none.  Error(argument) for an undefined gradient, Error(shape)
    // where a hook gives another shape or dtype.
    Tensor invoke(const std::string& layer, const Tensor& gradient) const;

    std::size_t size() const;
    std::size_t size(const std::string& layer) const;

private:
    using Entry = std::pair<Handle, std::shared_ptr<const Hook>>;
    mutable std::mutex mutex_; // never held while a hook runs or goes
    std::map<std::string, std::vector<Entry>> layers_;
};

} // namespace reprise
