#include "execution/call_observer.hpp"

#include <atomic>
#include <mutex>

namespace reprise::execution {

namespace {

std::atomic<bool> observed = false; // so that calls without an observer take no lock
std::mutex mutex;
std::shared_ptr<CallObserver>& current()
{
    static std::shared_ptr<CallObserver> observer;
    return observer;
}

} // namespace

void set_call_observer(std::shared_ptr<CallObserver> observer)
{
    const std::lock_guard lock(mutex);
    observed.store(observer != nullptr, std::memory_order_release);
    current().swap(observer);
}

std::shared_ptr<CallObserver> call_observer()
{
    if (!observed.load(std::memory_order_acquire)) return nullptr;
    const std::lock_guard lock(mutex);
    const std::shared_ptr<CallObserver>& observer = current();
    return observer && observer->wants_calls() ? observer : nullptr;
}

} // namespace reprise::execution
