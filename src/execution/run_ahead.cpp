#include "execution/run_ahead.hpp"

#include <algorithm>

namespace reprise::execution {

namespace {

constexpr std::uint64_t min_depth = 3;                // calls that may be in flight, however slow they are
constexpr std::chrono::duration<double> horizon{2.0}; // device time of the calls in flight

} // namespace

void RunAhead::set_limit(std::uint32_t calls)
{
    const std::lock_guard lock(mutex_);
    limit_ = std::clamp<std::uint64_t>(calls, 1, max_calls);
    depth_ = std::min(std::max(depth_, min_depth), limit_);
}

void RunAhead::submitted(device::Ticket ticket)
{
    const std::lock_guard lock(mutex_);
    ++count_;
    at(count_) = {count_, ticket};
}

device::Ticket RunAhead::needed()
{
    const std::lock_guard lock(mutex_);
    return count_ < depth_ ? 0 : at(count_ - depth_ + 1).ticket;
}

// Waits until a quarter of the limit, or 2 calls if that is more, is left in flight, so that the device has work while
// the host makes the next calls.
RunAhead::Call RunAhead::to_wait_for()
{
    const std::lock_guard lock(mutex_);
    const std::uint64_t left = std::min({std::max<std::uint64_t>(depth_ / 4, 2), depth_ - 1, count_ - 1});
    return at(count_ - left);
}

// Estimates the duration of a call from the time between the end of the oldest wait in the history and the end of this
// one.  This is the device's time or, where the host was busy otherwise, more.
void RunAhead::woke(std::uint64_t number, Time now)
{
    const std::lock_guard lock(mutex_);
    Call& call = at(number);
    if (call.number != number || call.done != Time()) return; // overwritten, or noted by another thread
    call.done = now;
    for (std::uint64_t n = count_ - std::min(count_, history_size) + 1; n < number; ++n) {
        if (at(n).done == Time()) continue;
        const std::chrono::duration<double> each = (now - at(n).done) / static_cast<double>(number - n);
        const double fit = horizon / std::max(each, std::chrono::duration<double>(1e-9));
        depth_ = std::min(std::max(static_cast<std::uint64_t>(std::min(fit, double{max_calls})), min_depth),
                          limit_);
        return;
    }
}

} // namespace reprise::execution
