#include <reprise/checkpointing/hooks.hpp>

#include <algorithm>
#include <atomic>

#include "checkpointing/checks.hpp"

namespace reprise {

namespace {
constexpr const char* op = "BackwardHookManager";
}

BackwardHookManager::Handle BackwardHookManager::register_hook(const std::string& layer, Hook hook)
{
    static std::atomic<Handle> last = 0;
    checkpointing::require_id(op, layer);
    if (!hook)
        detail::fail(ErrorKind::argument, op, "The hook for the layer (", layer,
                     ") is null: give one that can be called.");
    auto shared = std::make_shared<const Hook>(std::move(hook));
    const Handle handle = ++last;
    const std::lock_guard lock(mutex_);
    layers_[layer].emplace_back(handle, std::move(shared));
    return handle;
}

bool BackwardHookManager::remove(Handle handle)
{
    Entry gone;
    const std::lock_guard lock(mutex_);
    for (auto layer = layers_.begin(); layer != layers_.end(); ++layer) {
        auto& list = layer->second;
        const auto found =
            std::find_if(list.begin(), list.end(), [&](const Entry& e) { return e.first == handle; });
        if (found == list.end()) continue;
        gone = std::move(*found);
        list.erase(found);
        if (list.empty()) layers_.erase(layer);
        return true;
    }
    return false;
}

std::size_t BackwardHookManager::remove_layer(const std::string& layer)
{
    std::vector<Entry> gone;
    const std::lock_guard lock(mutex_);
    if (const auto found = layers_.find(layer); found != layers_.end()) {
        gone = std::move(found->second);
        layers_.erase(found);
    }
    return gone.size();
}

void BackwardHookManager::clear()
{
    decltype(layers_) gone;
    const std::lock_guard lock(mutex_);
    gone.swap(layers_);
}

Tensor BackwardHookManager::invoke(const std::string& layer, const Tensor& gradient) const
{
    if (!gradient.defined())
        detail::fail(ErrorKind::argument, op, "The gradient for the layer (", layer,
                     ") is undefined: give one that has arrived.");
    std::vector<Entry> hooks;
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = layers_.find(layer); found != layers_.end()) hooks = found->second;
    }
    Tensor present = gradient;
    for (const auto& [handle, hook] : hooks) {
        const Tensor given = (*hook)(present);
        if (!given.defined()) continue;
        if (given.dtype() != present.dtype() || !same(given.shape(), present.shape()))
            detail::fail(ErrorKind::shape, op, "A hook of the layer (", layer, ") gave ",
                         name_of(given.dtype()), to_string(given.shape()), " for a gradient of ",
                         name_of(present.dtype()), to_string(present.shape()),
                         ": give one of the same shape and dtype.");
        present = given;
    }
    return present;
}

std::size_t BackwardHookManager::size() const
{
    const std::lock_guard lock(mutex_);
    std::size_t count = 0;
    for (const auto& [layer, list] : layers_) count += list.size();
    return count;
}

std::size_t BackwardHookManager::size(const std::string& layer) const
{
    const std::lock_guard lock(mutex_);
    const auto found = layers_.find(layer);
    return found == layers_.end() ? 0 : found->second.size();
}

} // namespace reprise
