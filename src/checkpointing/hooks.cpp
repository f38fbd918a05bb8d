#include <reprise/checkpointing/hooks.hpp>

#include <algorithm>
#include <atomic>
#include <vector>

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
    hooks_.emplace(layer, Entry(handle, std::move(shared)));
    return handle;
}

bool BackwardHookManager::remove(Handle handle)
{
    Entry removed;
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(hooks_.begin(), hooks_.end(),
                                    [&](const auto& hook) { return hook.second.first == handle; });
    if (found == hooks_.end()) return false;
    removed = std::move(found->second);
    hooks_.erase(found);
    return true;
}

std::size_t BackwardHookManager::remove_layer(const std::string& layer)
{
    std::vector<Entry> removed;
    const std::lock_guard lock(mutex_);
    const auto [from, to] = hooks_.equal_range(layer);
    for (auto hook = from; hook != to; ++hook) removed.push_back(std::move(hook->second));
    hooks_.erase(from, to);
    return removed.size();
}

void BackwardHookManager::clear()
{
    decltype(hooks_) removed;
    const std::lock_guard lock(mutex_);
    removed.swap(hooks_);
}

Tensor BackwardHookManager::invoke(const std::string& layer, const Tensor& gradient) const
{
    if (!gradient.defined())
        detail::fail(ErrorKind::argument, op, "The gradient for the layer (", layer,
                     ") is undefined: give one that has arrived.");
    std::vector<Entry> hooks;
    {
        const std::lock_guard lock(mutex_);
        const auto [from, to] = hooks_.equal_range(layer);
        for (auto hook = from; hook != to; ++hook) hooks.push_back(hook->second);
    }
    Tensor current = gradient;
    for (const auto& [handle, hook] : hooks) {
        const Tensor given = (*hook)(current);
        if (!given.defined()) continue;
        if (given.dtype() != current.dtype() || !same(given.shape(), current.shape()))
            detail::fail(ErrorKind::shape, op, "A hook of the layer (", layer, ") gave ",
                         name_of(given.dtype()), to_string(given.shape()), " for a gradient of ",
                         name_of(current.dtype()), to_string(current.shape()),
                         ": give one of the same shape and dtype.");
        current = given;
    }
    return current;
}

std::size_t BackwardHookManager::size() const
{
    const std::lock_guard lock(mutex_);
    return hooks_.size();
}

std::size_t BackwardHookManager::size(const std::string& layer) const
{
    const std::lock_guard lock(mutex_);
    return hooks_.count(layer);
}

} // namespace reprise
