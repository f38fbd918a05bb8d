// The slices of a queue: how much of the queued work the driver is given, and what is dropped.
#include "device/vulkan/queue.hpp"
#include <algorithm>

namespace reprise::device::vulkan {

namespace {
// A list that was never timed counts as this part of a slice.
constexpr double unknown_part = 0.25;
} // namespace

void Queue::set_slice(std::optional<std::chrono::nanoseconds> slice)
{
    const auto no_submission = lock(); // which would find the queue half with and half without slices
    const std::lock_guard queued(queued_mutex_);
    slice_ = slice ? static_cast<double>(slice->count()) : 0;
    slice_left_ = 0;
    has_slices_.store(slice.has_value(), std::memory_order_relaxed);
    if (!slice && !queued_.empty()) hand_over(unlimited, true);
}

// The smaller one of the estimate and the time by the clock, so that a host that is slower than the device ends, too.
double Queue::left_of_slice() const
{
    const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - slice_began_;
    return std::max(0.0, std::min(slice_left_, slice_ - passed.count()));
}

// Returns the end of the lists that fit the budget, and subtracts their costs.  A list fits if half of it does.
std::size_t Queue::end_of_part(const Queued& q, double& budget, bool at_least_one) const
{
    if (budget == unlimited) return q.lists.size();
    std::size_t end = q.next;
    for (; end < q.lists.size(); ++end) {
        const double known = end < q.costs.size() ? q.costs[end] : q.cost_of_each;
        const double cost = known < 0 ? unknown_part * slice_ : known;
        if (cost / 2 > std::max(budget, 0.0) && !at_least_one) break;
        at_least_one = at_least_one && cost == 0;
        budget -= cost;
    }
    return end;
}

bool Queue::advance()
{
    const std::lock_guard queued(queued_mutex_);
    if (!has_slices()) {
        if (!queued_.empty()) hand_over(unlimited, true); // set_slice() failed to
        return done(submitted());
    }
    slice_left_ = 0;
    const HostCalls& native = host_calls_[HostCall::native].calls;
    if (!done(handed_over_) || !native.served(native.posted())) return false;
    slice_left_ = slice_;
    slice_began_ = std::chrono::steady_clock::now();
    hand_over(slice_, true);
    return queued_.empty() && slice_left_ > 0;
}

std::chrono::nanoseconds Queue::slice_left()
{
    const std::lock_guard queued(queued_mutex_);
    if (!has_slices() || !queued_.empty()) return {};
    return std::chrono::nanoseconds(static_cast<std::int64_t>(left_of_slice()));
}

void Queue::hand_over_until(Ticket ticket)
{
    for (;;) {
        Ticket last = 0;
        {
            const std::lock_guard queued(queued_mutex_);
            if (queued_.empty() || handed_over_ >= ticket) return;
            if (done(handed_over_)) {
                hand_over(slice_, true);
                slice_left_ = 0; // nothing else begins in this slice
            }
            last = handed_over_;
            if (last >= ticket) return;
        }
        device_.check("wait", "vkWaitSemaphores", [&] { return await(last); });
        host_calls_[HostCall::native].calls.wait();
    }
}

// Drops the newest calls, back to the first one that has to stay: then all that came before it stays, too, and what the
// calls have done on the host can be undone in reverse order.
std::size_t Queue::cancel()
{
    const std::lock_guard queued(queued_mutex_);
    std::vector<Ticket> read; // by evaluations, which stay
    std::size_t first = queued_.size();
    const auto stays = [&](const Queued& q) {
        const bool has_begun_to_write = q.next > q.writes_state_from;
        const bool is_read = std::find(read.begin(), read.end(), q.last) != read.end();
        return has_begun_to_write || is_read;
    };
    for (std::size_t i = queued_.size(); i-- > 0;) {
        const Queued& q = queued_[i];
        read.insert(read.end(), q.reads.begin(), q.reads.end());
        if (!q.droppable) continue; // uploads, evaluations and semaphores
        if (stays(q)) break;
        first = i;
    }
    std::vector<std::pair<Ticket, Ticket>> dropped;
    for (std::size_t i = first; i < queued_.size(); ++i)
        if (queued_[i].droppable) dropped.emplace_back(queued_[i].first, queued_[i].last);
    if (dropped.empty()) return 0;
    dropped_.insert(dropped_.end(), dropped.begin(), dropped.end());
    any_dropped_.store(true, std::memory_order_release);
    // An empty submission signals the ticket of each dropped call.  A later one would do for Vulkan, but where a thread
    // waits for a value that no submission signals, the validation layer 1.3.239 lets it wait for 10 s.  It waits for
    // native code that has begun, whose memory calls that follow may use.
    for (std::size_t i = first; i < queued_.size(); ++i) {
        Queued& q = queued_[i];
        if (!q.droppable) continue;
        SemaphoreValue wait{};
        for (const QueuedCall& call : q.host_calls)
            if (call.after < q.next) wait = {host_calls_[call.kind].timeline.get(), call.value};
        q = {.first = q.last, .last = q.last, .wait = wait};
    }
    return dropped.size();
}

bool Queue::is_dropped(Ticket ticket) const
{
    const auto after = std::upper_bound(dropped_.begin(), dropped_.end(), ticket,
                                        [](Ticket t, const auto& range) { return t < range.first; });
    return after != dropped_.begin() && ticket <= std::prev(after)->second;
}

bool Queue::dropped(Ticket ticket) const
{
    if (!any_dropped_.load(std::memory_order_acquire)) return false;
    const std::lock_guard queued(queued_mutex_);
    return is_dropped(ticket);
}

} // namespace reprise::device::vulkan
