#include "device/health.hpp"
#include <algorithm>
#include <array>
#include <reprise/error.hpp>

namespace reprise::device {

void Health::fail_next(const std::string& kind, std::uint32_t n, Device::Fault fault)
{
    static constexpr std::array<std::string_view, 4> kinds{"allocate", "submit", "wait", "record"};
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
        reprise::detail::fail(ErrorKind::argument, "fail_next", "There is no driver call of kind (", kind,
                              "): use allocate, submit, wait or record.");
    }
    const std::lock_guard lock(mutex_);
    injections_.push_back({kind, std::max<std::uint32_t>(n, 1), fault});
    armed_.store(true, std::memory_order_relaxed);
}

void Health::clear_faults()
{
    const std::lock_guard lock(mutex_);
    injections_.clear();
    armed_.store(false, std::memory_order_relaxed);
}

std::optional<Device::Fault> Health::count(std::string_view kind)
{
    const std::lock_guard lock(mutex_);
    std::optional<Device::Fault> due;
    for (Injection& injection : injections_) {
        if (injection.kind == kind && --injection.remaining == 0) {
            due = injection.fault;
        }
    }
    std::erase_if(injections_, [](const Injection& injection) { return injection.remaining == 0; });
    armed_.store(!injections_.empty(), std::memory_order_relaxed);
    return due;
}

void Health::pass(std::string_view kind, const char* op)
{
    require_alive(op);
    const std::optional<Device::Fault> fault = injected(kind);
    if (fault == Device::Fault::lost) {
        set_lost();
        fail_lost(op);
    }
    if (fault == Device::Fault::out_of_memory) {
        reprise::detail::fail(ErrorKind::out_of_memory, op,
                              "The device is out of memory (ordered by a test).");
    }
}

void Health::set_failed(const Error& error) noexcept
{
    {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_.emplace(error);
    }
    set_lost();
}

void Health::fail_dead(const char* op) const
{
    if (closed()) fail_closed(op);
    {
        const std::lock_guard lock(mutex_);
        if (failure_) throw *failure_;
    }
    fail_lost(op);
}

void Health::fail_lost(const char* op)
{
    reprise::detail::fail(ErrorKind::device_lost, op,
                          "The device was lost, with all that its memory held. "
                          "Drop what was made on it, call reset() with its id and open it anew; "
                          "other devices go on working.");
}

void Health::fail_closed(const char* op)
{
    reprise::detail::fail(
        ErrorKind::device, op,
        "The device was closed, with all that its memory held: drop what was made on it, and "
        "open a device anew.");
}

void Device::set_slice(std::optional<std::chrono::nanoseconds> slice)
{
    if (slice)
        reprise::detail::fail(ErrorKind::unsupported, "set_slice", "The device (", capabilities().id,
                              ") cannot run in slices: use a Vulkan device.");
}

void Device::with_context(const std::function<void()>&)
{
    reprise::detail::fail(ErrorKind::unsupported, "with_context", "The device (", capabilities().id,
                          ") has no context of CUDA.");
}

void fail_unset(std::size_t set, std::size_t launches)
{
    reprise::detail::fail(ErrorKind::internal, "submit", "(", set, ") of (", launches,
                          ") launches were set since begin().");
}

} // namespace reprise::device
