// Hooks: functions of the user that a forward or backward pass calls.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

namespace detail {

struct Removable {
    virtual ~Removable() = default;
    virtual void remove(std::uint64_t id) = 0;
};

// A list of hooks in the order of registration.  A backward pass copies the list before it calls them, so a hook
// may add and remove hooks.
template <class Signature> class HookList : public Removable {
public:
    using Hook = std::function<Signature>;
    std::uint64_t add(Hook hook)
    {
        const std::lock_guard lock(mutex_);
        hooks_.emplace_back(++last_, std::move(hook));
        return last_;
    }
    void remove(std::uint64_t id) override
    {
        Hook gone; // destroyed after the lock is released
        const std::lock_guard lock(mutex_);
        const auto at =
            std::find_if(hooks_.begin(), hooks_.end(), [id](const auto& entry) { return entry.first == id; });
        if (at == hooks_.end()) return;
        gone = std::move(at->second);
        hooks_.erase(at);
    }
    void clear()
    {
        decltype(hooks_) gone; // destroyed after the lock is released
        const std::lock_guard lock(mutex_);
        gone.swap(hooks_);
    }
    bool empty() const
    {
        const std::lock_guard lock(mutex_);
        return hooks_.empty();
    }
    std::vector<Hook> hooks() const
    {
        const std::lock_guard lock(mutex_);
        std::vector<Hook> out;
        for (const auto& entry : hooks_) out.push_back(entry.second);
        return out;
    }

private:
    mutable std::mutex mutex_; // never held while a hook runs
    std::vector<std::pair<std::uint64_t, Hook>> hooks_;
    std::uint64_t last_ = 0;
};

// Returns a view of all elements, which is a new node on the tape, so that hooks on it get only its gradient.
Tensor boundary(const Tensor&);

} // namespace detail

// A handle to a registered hook.  The hook stays registered when the handle is destroyed.
class HookHandle {
public:
    HookHandle() = default; // refers to no hook
    // For the library itself.
    HookHandle(std::weak_ptr<detail::Removable> list, std::uint64_t id) : list_(std::move(list)), id_(id) {}
    // Removes the hook.  Does nothing if it was removed before.
    void remove() const
    {
        if (const auto list = list_.lock()) list->remove(id_);
    }

private:
    std::weak_ptr<detail::Removable> list_;
    std::uint64_t id_ = 0;
};

template <class Hook>
requires std::is_void_v<std::invoke_result_t<Hook&, const Tensor&>> HookHandle
Tensor::register_hook(Hook hook)
const
{
    if constexpr (requires { hook == nullptr; })
        if (hook == nullptr) return register_hook(std::function<Tensor(const Tensor&)>());
    return register_hook(
        std::function<Tensor(const Tensor&)>([hook = std::move(hook)](const Tensor& gradient) mutable {
            hook(gradient);
            return Tensor();
        }));
}

} // namespace reprise
