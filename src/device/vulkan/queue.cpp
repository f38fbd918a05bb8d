#include "device/vulkan/queue.hpp"
#include <algorithm>
#include <chrono>
#include <reprise/error.hpp>

namespace reprise::device::vulkan {

Queue::Queue(LogicalDevice& device, const ExternalVulkan* external) : device_(device)
{
    if (external) {
        lock_external_ = external->lock_queue;
        unlock_external_ = external->unlock_queue;
    }
    const VkSemaphoreTypeCreateInfo type{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                         .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    timeline_.create("allocate", "vkCreateSemaphore", &VolkDeviceTable::vkCreateSemaphore, info);
    reads_timeline_.create("allocate", "vkCreateSemaphore", &VolkDeviceTable::vkCreateSemaphore, info);
    for (HostCallsOfKind& calls : host_calls_)
        calls.timeline.create("allocate", "vkCreateSemaphore", &VolkDeviceTable::vkCreateSemaphore, info);
    device_.name(VK_OBJECT_TYPE_SEMAPHORE, timeline_.get(), "reprise timeline");
    device_.name(VK_OBJECT_TYPE_SEMAPHORE, reads_timeline_.get(), "reprise timeline of reads");
    device_.name(VK_OBJECT_TYPE_SEMAPHORE, host_calls_[HostCall::exchange].timeline.get(),
                 "reprise timeline of exchanges");
    device_.name(VK_OBJECT_TYPE_SEMAPHORE, host_calls_[HostCall::native].timeline.get(),
                 "reprise timeline of native code");
}

Queue::~Queue() { collect_all(); }

Ticket Queue::submit(const Work& work)
{
    const std::lock_guard queued(queued_mutex_);
    const Ticket before = submitted_.load(std::memory_order_relaxed);
    Queued& q = queued_.emplace_back();
    try {
        q = {.first = before + 1,
             .last = before + std::max<std::size_t>(work.lists.size(), 1),
             .lists = {work.lists.begin(), work.lists.end()},
             .costs = {work.costs.begin(), work.costs.end()},
             .cost_of_each = work.cost_of_each,
             .per_batch = std::max<std::size_t>(work.per_batch, 1),
             .droppable = work.droppable,
             .writes_state_from = work.writes_state_from,
             .reads = {work.reads.begin(), work.reads.end()},
             .wait = work.wait,
             .signal = work.signal,
             .resume = work.resume};
        std::array<std::uint64_t, 2> values{};
        for (std::size_t kind = 0; kind < values.size(); ++kind) values[kind] = host_calls_[kind].value;
        for (const HostCall& call : work.host_calls) {
            q.host_calls.push_back({call, ++values[call.kind]});
            host_calls_[call.kind].calls.start();
        }
        const Ticket last = q.last; // handing over removes q
        if (!has_slices()) hand_over(unlimited, true);
        else if (queued_.size() == 1 && left_of_slice() > 0) hand_over(left_of_slice(), false);
        submitted_.store(last, std::memory_order_release);
        for (std::size_t kind = 0; kind < values.size(); ++kind) host_calls_[kind].value = values[kind];
        return last;
    } catch (...) {
        queued_.pop_back();
        throw;
    }
}

// The call, which waits for the list before it and lets the lists after it begin.
HostCalls::Call Queue::host_call(const Queued& q, const QueuedCall& call)
{
    return {.await =
                [this, ticket = q.first + call.after - 1] {
                    if (wait_for(timeline_.get(), ticket) != VK_SUCCESS) device_.health.set_lost();
                },
            .run = call.run,
            .finished =
                [this, timeline = host_calls_[call.kind].timeline.get(), value = call.value] {
                    const VkSemaphoreSignalInfo info{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                                     .semaphore = timeline,
                                                     .value = value};
                    if (device_.vk.vkSignalSemaphore(device_.handle(), &info) != VK_SUCCESS)
                        device_.health.set_lost();
                }};
}

// Appends the batches of the lists before `end` that were not handed over yet.
void Queue::add_batches(const Queued& q, std::size_t end)
{
    std::size_t first = q.next;
    for (const QueuedCall& call : q.host_calls) {
        // Native code may write state: it begins with a list, so that cancel() sees whether it has begun.
        const std::size_t begins = call.kind == HostCall::native ? call.after + 1 : call.after;
        if (begins > first && begins <= end) handed_calls_.push_back({call.kind, host_call(q, call)});
    }
    do {
        std::size_t last = q.per_batch < end - first ? first + q.per_batch : end;
        for (const HostCall& call : q.host_calls)
            for (const std::size_t edge : {call.after, call.before})
                if (edge > first && edge < last) last = edge;
        Batch& b = batches_.emplace_back();
        VkSubmitInfo& info = infos_.emplace_back(VkSubmitInfo{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO});
        info.pNext = &b.values;
        b.values.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
        std::uint32_t waits = 0;
        const auto add_wait = [&](const SemaphoreValue& v) {
            b.waits[waits] = v.semaphore;
            b.wait_values[waits++] = v.value;
        };
        if (first == 0 && q.wait.semaphore) add_wait(q.wait);
        for (const auto kind : {HostCall::exchange, HostCall::native}) {
            std::uint64_t value = 0; // calls of one kind end in their order
            for (const QueuedCall& call : q.host_calls)
                if (call.before == first && call.kind == kind) value = call.value;
            if (value > 0) add_wait({host_calls_[kind].timeline.get(), value});
        }
        info.waitSemaphoreCount = b.values.waitSemaphoreValueCount = waits;
        info.pWaitSemaphores = b.waits.data();
        info.pWaitDstStageMask = b.wait_stages.data();
        b.values.pWaitSemaphoreValues = b.wait_values.data();
        info.commandBufferCount = static_cast<std::uint32_t>(last - first);
        info.pCommandBuffers = q.lists.data() + first;
        if (first == q.next && first > 0 && q.resume) {
            b.lists.assign(q.lists.begin() + static_cast<std::ptrdiff_t>(first),
                           q.lists.begin() + static_cast<std::ptrdiff_t>(last));
            b.lists.insert(b.lists.begin(), q.resume);
            info.commandBufferCount += 1;
            info.pCommandBuffers = b.lists.data();
        }
        std::uint32_t signals = 0;
        if (last == q.lists.size() && q.signal.semaphore) {
            b.signals[signals] = q.signal.semaphore; // before the library's own, which its threads wait for
            b.signal_values[signals++] = q.signal.value;
        }
        b.signals[signals] = timeline_.get();
        b.last = b.signal_values[signals++] = q.first + std::max<std::size_t>(last, 1) - 1;
        info.signalSemaphoreCount = signals;
        info.pSignalSemaphores = b.signals.data();
        b.values.signalSemaphoreValueCount = info.signalSemaphoreCount;
        b.values.pSignalSemaphoreValues = b.signal_values.data();
        first = last;
    } while (first < end);
}

// Gives the driver the queued work from the front, as long as it is estimated to take `budget` nanoseconds: with one
// vkQueueSubmit, so that a failure changes nothing.
void Queue::hand_over(double budget, bool at_least_one)
{
    batches_.clear();
    infos_.clear();
    handed_calls_.clear();
    std::size_t whole = 0; // submissions that are handed over whole
    std::size_t end = 0;   // the end of the lists of the next one
    for (const double all = budget; whole < queued_.size(); ++whole) {
        const Queued& q = queued_[whole];
        end = end_of_part(q, budget, at_least_one && budget == all);
        if (end > q.next || q.lists.empty()) add_batches(q, end);
        if (end < q.lists.size()) break;
        end = 0;
    }
    if (infos_.empty()) return;
    give_driver(infos_);
    for (HandedCall& handed : handed_calls_) host_calls_[handed.kind].calls.post(std::move(handed.call));
    handed_over_ = batches_.back().last;
    slice_left_ = budget;
    queued_.erase(queued_.begin(), queued_.begin() + static_cast<std::ptrdiff_t>(whole));
    if (end > 0) queued_.front().next = end;
}

void Queue::give_driver(std::span<const VkSubmitInfo> infos)
{
    device_.check("submit", "vkQueueSubmit", [&] {
        if (lock_external_) {
            lock_external_();
        }
        const VkResult result = device_.vk.vkQueueSubmit(
            device_.queue(), static_cast<std::uint32_t>(infos.size()), infos.data(), VK_NULL_HANDLE);
        if (unlock_external_) {
            unlock_external_();
        }
        return result;
    });
    submits_.fetch_add(1, std::memory_order_relaxed);
}

void Queue::run_now(VkCommandBuffer list)
{
    std::uint64_t value = 0;
    {
        const std::lock_guard queued(queued_mutex_);
        value = reads_ + 1;
        const VkTimelineSemaphoreSubmitInfo values{.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                   .signalSemaphoreValueCount = 1,
                                                   .pSignalSemaphoreValues = &value};
        const VkSubmitInfo info{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                .pNext = &values,
                                .commandBufferCount = 1,
                                .pCommandBuffers = &list,
                                .signalSemaphoreCount = 1,
                                .pSignalSemaphores = &reads_timeline_.get()};
        give_driver({&info, 1});
        reads_ = value;
    }
    const auto wait = [&] { return wait_for(reads_timeline_.get(), value); };
    try {
        device_.check("wait", "vkWaitSemaphores", wait);
    } catch (...) {
        wait(); // past the checker: a failure that a test injects must not leave the list running
        throw;
    }
}

bool Queue::done(Ticket ticket)
{
    if (ticket <= completed_.load(std::memory_order_acquire)) {
        device_.health.require_alive("done");
        return true;
    }
    Ticket now = 0;
    device_.check("wait", "vkGetSemaphoreCounterValue", [&] {
        return device_.vk.vkGetSemaphoreCounterValue(device_.handle(), timeline_.get(), &now);
    });
    completed(now);
    if (ticket > now) return false;
    device_.health.require_alive("done"); // a host call may have failed
    return true;
}

bool Queue::reached(Ticket ticket) noexcept
{
    if (ticket <= completed_.load(std::memory_order_acquire)) {
        return true;
    }
    Ticket now = 0;
    if (device_.vk.vkGetSemaphoreCounterValue(device_.handle(), timeline_.get(), &now) != VK_SUCCESS) {
        return false;
    }
    completed(now);
    return ticket <= now;
}

void Queue::completed(Ticket now) noexcept
{
    Ticket seen = completed_.load(std::memory_order_relaxed);
    while (seen < now && !completed_.compare_exchange_weak(seen, now, std::memory_order_acq_rel)) {}
}

VkResult Queue::await(Ticket ticket) noexcept
{
    // A GPU's driver may wake a thread later than a short step takes: its first millisecond is polled.
    if (!device_.physical().is_cpu()) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
        do {
            if (reached(ticket)) return VK_SUCCESS;
        } while (std::chrono::steady_clock::now() < end);
    }
    return wait_for(timeline_.get(), ticket);
}

VkResult Queue::wait_for(VkSemaphore semaphore, std::uint64_t value) const noexcept
{
    const VkSemaphoreWaitInfo info{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                   .semaphoreCount = 1,
                                   .pSemaphores = &semaphore,
                                   .pValues = &value};
    return device_.vk.vkWaitSemaphores(device_.handle(), &info, ~std::uint64_t{0});
}

void Queue::wait(Ticket ticket)
{
    if (ticket <= completed_.load(std::memory_order_acquire)) {
        device_.health.require_alive("wait");
        return;
    }
    if (ticket > submitted()) {
        reprise::detail::fail(ErrorKind::argument, "wait", "Ticket (", ticket,
                              ") was not given out: the last is (", submitted(), ").");
    }
    hand_over_until(ticket);
    device_.check("wait", "vkWaitSemaphores", [&] { return await(ticket); });
    completed(ticket);
    device_.health.require_alive("wait"); // a host call may have failed
}

void Queue::retire(Ticket ticket, std::unique_ptr<Retired> object) noexcept
{
    if (!object || ticket <= completed_.load(std::memory_order_acquire)) {
        return; // destroys the object
    }
    retired_.push(ticket, std::move(object));
}

void Queue::collect() noexcept
{
    retired_.collect([this](Ticket ticket) { return reached(ticket); });
}

void Queue::finish() noexcept
{
    Ticket last = 0;
    {
        const std::lock_guard queued(queued_mutex_);
        queued_.clear();
        last = handed_over_;
    }
    // Bypasses the checker: a failure that a test injects must not leave work running.
    if (last > completed_.load(std::memory_order_acquire)) {
        await(last);
    }
    for (const HostCallsOfKind& calls : host_calls_)
        calls.calls.wait(); // also for the end of its last call of the driver
}

void Queue::collect_all() noexcept
{
    finish();
    retired_.collect([](Ticket) { return true; });
}

void Queue::bound_retired(std::size_t max_count)
{
    collect();
    while (const Ticket surplus = retired_.ticket_of_surplus(max_count)) {
        wait(surplus);
        collect();
    }
}

} // namespace reprise::device::vulkan
