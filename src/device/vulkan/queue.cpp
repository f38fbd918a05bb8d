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
    device_.name(VK_OBJECT_TYPE_SEMAPHORE, timeline_.get(), "reprise timeline");
}

Queue::~Queue() { collect_all(); }

Ticket Queue::submit(std::span<const VkCommandBuffer> lists, std::size_t per_batch)
{
    per_batch = std::clamp<std::size_t>(per_batch, 1, std::max<std::size_t>(lists.size(), 1));
    const std::size_t count = std::max<std::size_t>((lists.size() + per_batch - 1) / per_batch, 1);
    batches_.assign(count, VkSubmitInfo{});
    signals_.assign(count, VkTimelineSemaphoreSubmitInfo{});
    values_.resize(count);
    const Ticket before = submitted_.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < count; ++i) {
        values_[i] = before + i + 1;
        signals_[i].sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
        signals_[i].signalSemaphoreValueCount = 1;
        signals_[i].pSignalSemaphoreValues = &values_[i];
        batches_[i].sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
        batches_[i].pNext = &signals_[i];
        batches_[i].commandBufferCount =
            static_cast<std::uint32_t>(std::min(per_batch, lists.size() - i * per_batch));
        batches_[i].pCommandBuffers = lists.data() + i * per_batch;
        batches_[i].signalSemaphoreCount = 1;
        batches_[i].pSignalSemaphores = &timeline_.get();
    }
    device_.check("submit", "vkQueueSubmit", [&] {
        if (lock_external_) {
            lock_external_();
        }
        const VkResult result = device_.vk.vkQueueSubmit(device_.queue(), static_cast<std::uint32_t>(count),
                                                         batches_.data(), VK_NULL_HANDLE);
        if (unlock_external_) {
            unlock_external_();
        }
        return result;
    });
    submits_.fetch_add(1, std::memory_order_relaxed);
    submitted_.store(before + count, std::memory_order_release);
    return before + count;
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
    advance(now);
    return ticket <= now;
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
    advance(now);
    return ticket <= now;
}

void Queue::advance(Ticket now) noexcept
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
    const VkSemaphoreWaitInfo info{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                   .semaphoreCount = 1,
                                   .pSemaphores = &timeline_.get(),
                                   .pValues = &ticket};
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
    device_.check("wait", "vkWaitSemaphores", [&] { return await(ticket); });
    advance(ticket);
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

void Queue::collect_all() noexcept
{
    // Bypasses the checker: a failure that a test injects must not leave work running.
    await(submitted());
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
