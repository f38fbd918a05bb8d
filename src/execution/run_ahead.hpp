// Limits the calls in flight, which the host has submitted and the device has not finished.  A thread that wakes for
// each call that ends finds cold CPU caches, so that its next call takes two to three times as long (measured on
// lavapipe: docs/benchmarks.md, eager_...).  So it waits rarely, until most of the calls in flight are done, and then
// makes several in a row.  The calls in flight take about two seconds of device time, estimated from the last calls;
// there are never fewer than 3 calls, unless the limit is smaller.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "device/device.hpp"

namespace reprise::execution {

class RunAhead {
public:
    static constexpr std::uint32_t max_calls = 16; // in flight; recordings have a slot for each
    using Time = std::chrono::steady_clock::time_point;

    void set_limit(std::uint32_t calls); // from the next call on; clamped to the range from 1 to `max_calls`
    void submitted(device::Ticket);

    // Whether the next call can be made without waiting.  This and make_room() throw what done() and wait() throw.
    template <class Queue> bool has_room(Queue& queue)
    {
        const device::Ticket ticket = needed();
        return ticket == 0 || queue.done(ticket);
    }
    // Waits until it can.  Calls that other threads make during the wait may exceed the limit.
    template <class Queue, class Now = Time (*)()>
    void make_room(Queue& queue, const Now& now = std::chrono::steady_clock::now)
    {
        if (has_room(queue)) return;
        const Call awaited = to_wait_for();
        queue.wait(awaited.ticket);
        woke(awaited.number, now());
    }

private:
    static constexpr std::uint64_t history_size = 2 * max_calls; // number of calls in the history

    struct Call {
        std::uint64_t number = 0; // from 1
        device::Ticket ticket = 0;
        Time done{}; // when a thread that waited for it woke; Time(): none did
    };
    device::Ticket needed(); // the ticket that must be done before the next call; 0: none
    Call to_wait_for();
    void woke(std::uint64_t number, Time);
    Call& at(std::uint64_t number) { return calls_[number % history_size]; }

    std::mutex mutex_;
    std::array<Call, history_size> calls_{}; // history of the last calls
    std::uint64_t count_ = 0;
    std::uint64_t limit_ = max_calls, depth_ = 3; // calls in flight: as set, and by their duration
};

} // namespace reprise::execution
