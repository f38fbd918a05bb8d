// The order of work on the one stream: a ticket for everything submitted, and what may go only when the device has done
// with it.  Thread-safe.
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

    // Held while the calls that make one submission go to the stream.
    std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
    // Under lock(), the context current: the ticket of what has gone to the stream until now.
    Ticket submitted_now();

    Ticket submitted() const noexcept { return submitted_.load(std::memory_order_acquire); }
    bool done(Ticket);
    void wait(Ticket);

    // Destroyed with the context current, once the ticket is done.
    void retire(Ticket, std::unique_ptr<Retired>) noexcept;
    void collect() noexcept;
    void collect_all() noexcept; // waits first

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
    std::deque<Mark> marks_;     // ascending
    std::vector<CUevent> spare_; // under marks_mutex_
    std::mutex retired_mutex_;
    std::deque<std::pair<Ticket, std::unique_ptr<Retired>>> retired_;
};

} // namespace reprise::device::cuda
