// The order of submissions: a ticket for each, which is done once the stream and the host calls that were posted before
// are, and objects that are destroyed once the device has finished with them.  Thread-safe.
#pragma once
#include "device/cuda/context.hpp"
#include "device/device.hpp"
#include "device/host_calls.hpp"
#include "device/retired.hpp"
#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

namespace reprise::device::cuda {

class Queue {
public:
    Queue(Context& context, const HostCalls& calls) : context_(context), calls_(calls) {}
    ~Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    // Held while the calls of one submission are added to the stream.
    std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
    // Requires lock() and the current context.  Returns the ticket of all work that was added to the stream so far.
    Ticket submitted_now();

    Ticket submitted() const noexcept { return submitted_.load(std::memory_order_acquire); }
    bool done(Ticket);
    void wait(Ticket);

    // The object is destroyed with the context current, once the ticket is done.
    void retire(Ticket, std::unique_ptr<Retired>) noexcept;
    void collect() noexcept;
    void collect_all() noexcept; // waits for all work first

private:
    struct Mark {
        Ticket ticket;
        CUevent event;
        std::uint64_t calls; // posted before
    };
    void reached(Ticket) noexcept;

    Context& context_;
    const HostCalls& calls_;
    std::mutex mutex_;
    std::atomic<Ticket> submitted_ = 0, completed_ = 0;
    std::mutex marks_mutex_;
    std::deque<Mark> marks_;     // ascending by ticket
    std::vector<CUevent> spare_; // guarded by marks_mutex_
    RetiredList retired_;
};

} // namespace reprise::device::cuda
