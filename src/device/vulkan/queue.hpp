// The device's only queue: submissions in the order of its lock, a timeline semaphore that counts them, and a list of
// objects that are destroyed once the device has finished with them.
#pragma once
#include "device/retired.hpp"
#include "device/vulkan/logical_device.hpp"
#include <atomic>
#include <mutex>
#include <span>

namespace reprise::device::vulkan {

class Queue {
public:
    Queue(LogicalDevice&, const ExternalVulkan*);
    ~Queue(); // waits for all that was submitted
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    // Held while a call's command buffers are collected and submitted, so that no other submission comes between them.
    std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

    // Requires lock().  One vkQueueSubmit, in batches of at most `per_batch` command buffers, each of which signals the
    // next timeline value: drivers that kill long jobs see short ones.  If it throws, nothing was submitted.
    Ticket submit(std::span<const VkCommandBuffer> lists, std::size_t per_batch = ~std::size_t{0});

    Ticket submitted() const noexcept { return submitted_.load(std::memory_order_acquire); }
    bool done(Ticket);
    void wait(Ticket);
    bool idle() { return done(submitted()); }
    bool reached(Ticket) noexcept; // done() without the checker, for cleanup

    void retire(Ticket, std::unique_ptr<Retired>) noexcept;
    // Destroys the retired objects with finished tickets.
    void collect() noexcept;
    void collect_all() noexcept; // waits for all submissions first
    std::size_t retired() const { return retired_.size(); }
    // Waits until at most `max_count` retired objects are left.
    void bound_retired(std::size_t max_count);

    std::uint64_t submits() const noexcept { return submits_.load(std::memory_order_relaxed); }

private:
    void advance(Ticket) noexcept;
    VkResult await(Ticket) noexcept; // wait() without the checker

    LogicalDevice& device_;
    std::function<void()> lock_external_, unlock_external_;
    Owned<VkSemaphore, &VolkDeviceTable::vkDestroySemaphore> timeline_{device_};
    std::mutex mutex_;
    std::atomic<Ticket> submitted_ = 0, completed_ = 0;
    std::atomic<std::uint64_t> submits_ = 0;
    std::vector<VkSubmitInfo> batches_; // scratch space of submit()
    std::vector<VkTimelineSemaphoreSubmitInfo> signals_;
    std::vector<Ticket> values_;
    RetiredList retired_;
};

} // namespace reprise::device::vulkan
