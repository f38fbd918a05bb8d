// The order of work on the only stream: a ticket for each submission, and objects that are destroyed once the device
// has finished with them.  Thread-safe.
#pragma once
#include "device/cuda/context.hpp"
#include "device/device.hpp"
#include "device/retired.hpp"
#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

namespace reprise::device::cuda {

class Queue {
public:
    explicit Queue(Context& context) : context_(context) {}
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
    };
    void reached(Ticket) noexcept;

    Context& context_;
    std::mutex mutex_;
    std::atomic<Ticket> submitted_ = 0, completed_ = 0;
    std::mutex marks_mutex_;
    std::deque<Mark> marks_;     // ascending by ticket
    std::vector<CUevent> spare_; // guarded by marks_mutex_
    RetiredList retired_;
};

} // namespace reprise::device::cuda
