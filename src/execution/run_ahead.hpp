// How many calls the host makes before the device has done them.  A thread that wakes for each call that ends finds
// caches that other work has filled meanwhile, and its next call costs it two to three times as much (measured on
// lavapipe: docs/benchmarks.md, eager_...).  So it waits rarely, until most of the calls in flight are done, and then
// makes several in a row.  In flight are about two seconds of the device's time, by what the last calls took; never
// fewer than 3 calls, unless the limit is.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "device/device.hpp"

namespace reprise::execution {

class RunAhead {
public:
    static constexpr std::uint32_t most = 16; // calls in flight; recordings have a slot for each
    using Time = std::chrono::steady_clock::time_point;

    void set_limit(std::uint32_t calls); // in flight, from the next one on; 1 to `most`
    void submitted(device::Ticket);

    // Whether the next call can be made at once.  Both throw what the queue's done() and wait() throw.
    template <class Queue> bool has_room(Queue& queue)
    {
        const device::Ticket ticket = needed();
        return ticket == 0 || queue.done(ticket);
    }
    // Waits until it can.  Where other threads make calls meanwhile, as many more may be in flight.
    template <class Queue, class Now = Time (*)()>
    void make_room(Queue& queue, const Now& now = std::chrono::steady_clock::now)
    {
        if (has_room(queue)) return;
        const Call awaited = to_wait_for();
        queue.wait(awaited.ticket);
        woke(awaited.number, now());
    }

private:
    static constexpr std::uint64_t remembered = 2 * most; // calls

    struct Call {
        std::uint64_t number = 0; // from 1
        device::Ticket ticket = 0;
        Time done{}; // where a thread woke for it
    };
    device::Ticket needed(); // before the next call; 0: nothing
    Call to_wait_for();
    void woke(std::uint64_t number, Time);
    Call& at(std::uint64_t number) { return calls_[number % remembered]; }

    std::mutex mutex_;
    std::array<Call, remembered> calls_{}; // the last ones
    std::uint64_t made_ = 0;
    std::uint64_t limit_ = most, depth_ = 3; // most in flight, ever and now
};

} // namespace reprise::execution
