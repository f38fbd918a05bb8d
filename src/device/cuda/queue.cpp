#include "device/cuda/queue.hpp"
#include <reprise/error.hpp>

namespace reprise::device::cuda {

Queue::~Queue()
{
    collect_all();
    const Context::Current current(context_);
    for (const Mark& m : marks_) context_.driver.cuEventDestroy(m.event);
    for (const CUevent e : spare_) context_.driver.cuEventDestroy(e);
}

Ticket Queue::submitted_now()
{
    CUevent event = nullptr;
    {
        const std::lock_guard lock(marks_mutex_);
        spare_.reserve(marks_.size() + spare_.size() + 1); // reached() must not allocate
        if (!spare_.empty()) {
            event = spare_.back();
            spare_.pop_back();
        }
    }
    if (!event) {
        context_.call("cuEventCreate", &Driver::cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
    }
    try {
        context_.call("cuEventRecord", &Driver::cuEventRecord, event, context_.stream());
    } catch (...) {
        context_.driver.cuEventDestroy(event);
        throw;
    }
    const Ticket ticket = submitted_.load(std::memory_order_relaxed) + 1;
    const std::lock_guard lock(marks_mutex_);
    marks_.push_back({ticket, event, calls_.posted()});
    submitted_.store(ticket, std::memory_order_release);
    return ticket;
}

bool Queue::done(Ticket ticket)
{
    context_.health.require_alive("done");
    if (completed_.load(std::memory_order_acquire) >= ticket) return true;
    const Context::Current current(context_);
    const std::lock_guard lock(marks_mutex_);
    while (!marks_.empty() && marks_.front().ticket <= ticket) {
        const CUresult result = context_.call("cuEventQuery", &Driver::cuEventQuery, marks_.front().event);
        if (result == CUDA_ERROR_NOT_READY || !calls_.served(marks_.front().calls)) return false;
        context_.health.require_alive("done"); // a call may have failed
        reached(marks_.front().ticket);
    }
    return completed_.load(std::memory_order_relaxed) >= ticket;
}

// Requires marks_mutex_.  Removes the first mark, which the device has passed.
void Queue::reached(Ticket ticket) noexcept
{
    completed_.store(ticket, std::memory_order_release);
    spare_.push_back(marks_.front().event);
    marks_.pop_front();
}

void Queue::wait(Ticket ticket)
{
    if (ticket > submitted()) {
        reprise::detail::fail(ErrorKind::argument, "wait", "Ticket (", ticket,
                              ") was not given out: the last is (", submitted(), ").");
    }
    const Context::Current current(context_);
    for (;;) {
        // Waits without holding the lock, so that other threads can submit and query.
        Mark mark{};
        {
            const std::lock_guard lock(marks_mutex_);
            if (completed_.load(std::memory_order_relaxed) >= ticket) break;
            for (const Mark& m : marks_)
                if (m.ticket == ticket) mark = m;
        }
        // The event is reused only after another thread has seen that it is finished.
        context_.check("wait", "cuEventSynchronize",
                       [&] { return context_.driver.cuEventSynchronize(mark.event); });
        calls_.wait(mark.calls);
        if (done(ticket)) return;
    }
    context_.check("wait", "cuEventSynchronize", [] { return CUDA_SUCCESS; });
}

void Queue::retire(Ticket ticket, std::unique_ptr<Retired> object) noexcept
{
    if (!object) return;
    retired_.push(ticket, std::move(object));
    collect();
}

void Queue::collect() noexcept
{
    const Context::Current current(context_);
    retired_.collect([this](Ticket ticket) {
        try {
            return context_.health.lost() || done(ticket);
        } catch (...) { // the device was just lost, or the host has no memory for an error
            return context_.health.lost();
        }
    });
}

void Queue::collect_all() noexcept
{
    const Context::Current current(context_);
    context_.driver.cuStreamSynchronize(context_.stream());
    retired_.collect([](Ticket) { return true; });
}

} // namespace reprise::device::cuda
