// The device's only queue: submissions in the order of its lock, a timeline semaphore that counts their command
// buffers, and a list of objects that are destroyed once the device has finished with them.  Beside these, reads of
// what is finished run at once, with a timeline of their own.
#pragma once
#include "device/host_calls.hpp"
#include "device/retired.hpp"
#include "device/vulkan/logical_device.hpp"
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace reprise::device::vulkan {

// A timeline semaphore of the application, and the value that a submission waits for or signals.
struct SemaphoreValue {
    VkSemaphore semaphore = VK_NULL_HANDLE; // null: none
    std::uint64_t value = 0;
};

// A host call of a submission.  Those of one kind run in a thread of its own, one after the other.
struct HostCall {
    enum Kind : std::uint8_t { exchange, native } kind = exchange;
    std::size_t after = 0;  // it begins when the lists before this one have ended; at least 1
    std::size_t before = 0; // the list that waits for it; after `after`, or equal
    std::function<void()> run{};
};

// One submission.
struct Work {
    static constexpr std::size_t none = ~std::size_t{0};
    std::span<const VkCommandBuffer> lists{};
    std::size_t per_batch = none;         // without slices: command buffers of one batch, at most
    std::span<const double> costs{};      // by list: estimated nanoseconds; negative: unknown
    double cost_of_each = -1;             // where costs is empty
    bool droppable = false;               // cancel() may drop it
    std::size_t writes_state_from = none; // the first list that writes state: from there on it is not dropped
    std::span<const Ticket> reads{};      // whose calls are then not dropped
    SemaphoreValue wait{}, signal{};      // before the first list, after the last
    VkCommandBuffer resume = VK_NULL_HANDLE; // precedes each part but the first; null: nothing does
    std::span<const HostCall> host_calls{};  // ascending by `after`; with exchanges it must not be droppable
};

class Queue {
public:
    Queue(LogicalDevice&, const ExternalVulkan*);
    ~Queue(); // waits for all that the driver was given; what still waits for a slice is dropped
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    // Held while a call's command buffers are collected and submitted, so that no other submission comes between them.
    std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

    // Requires lock().  Returns the ticket of the last list; each list's ticket is a value of the timeline.  Without
    // slices this is one vkQueueSubmit, in batches of at most `per_batch` lists: drivers that kill long jobs see short
    // ones.  With slices the work is queued.  If it throws, nothing was submitted.
    Ticket submit(const Work&);

    // Hands over a list before all that is queued, and waits for it: it has ended when this throws, too.
    void run_now(VkCommandBuffer);

    Ticket submitted() const noexcept { return submitted_.load(std::memory_order_acquire); }
    bool done(Ticket);
    void wait(Ticket); // with slices, hands over what is queued up to it
    bool idle() { return done(submitted()); }
    bool reached(Ticket) noexcept; // done() without the checker, for cleanup

    // Slices (device/device.hpp).
    void set_slice(std::optional<std::chrono::nanoseconds>);
    bool has_slices() const noexcept { return has_slices_.load(std::memory_order_relaxed); }
    bool advance();
    std::chrono::nanoseconds slice_left();
    std::size_t cancel();
    void hand_over_until(Ticket); // in slices
    bool dropped(Ticket) const;
    VkSemaphore timeline() const { return timeline_.get(); }

    void retire(Ticket, std::unique_ptr<Retired>) noexcept;
    // Destroys the retired objects with finished tickets.
    void collect() noexcept;
    void finish() noexcept;      // drops what is queued, and waits for what was handed over
    void collect_all() noexcept; // finishes, and destroys all retired objects
    std::size_t retired() const { return retired_.size(); }
    // Waits until at most `max_count` retired objects are left.
    void bound_retired(std::size_t max_count);

    std::uint64_t submits() const noexcept { return submits_.load(std::memory_order_relaxed); }

private:
    struct QueuedCall : HostCall {
        std::uint64_t value = 0; // of its kind's timeline once it has ended
    };
    // A submission, or the rest of it, that the driver has not been given.
    struct Queued {
        Ticket first = 0, last = 0; // of its lists; one ticket if it has none
        std::size_t next = 0;       // the first list that was not handed over
        std::vector<VkCommandBuffer> lists{};
        std::vector<double> costs{};
        double cost_of_each = -1; // where costs is empty
        std::size_t per_batch = Work::none;
        bool droppable = false;
        std::size_t writes_state_from = Work::none;
        std::vector<Ticket> reads{};
        SemaphoreValue wait{}, signal{};
        VkCommandBuffer resume = VK_NULL_HANDLE;
        std::vector<QueuedCall> host_calls{};
    };
    struct Batch { // of one vkQueueSubmit; never moved, as Vulkan's structures point into it
        VkTimelineSemaphoreSubmitInfo values{};
        std::vector<VkCommandBuffer> lists{}; // where they are not in a row elsewhere
        std::array<VkSemaphore, 3> waits{};   // for the application, and for both kinds of host calls
        std::array<std::uint64_t, 3> wait_values{};
        std::array<VkPipelineStageFlags, 3> wait_stages{VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                                        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                                        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT};
        std::array<VkSemaphore, 2> signals{};
        std::array<std::uint64_t, 2> signal_values{};
        Ticket last = 0; // of its lists
    };
    struct HandedCall {
        HostCall::Kind kind;
        HostCalls::Call call;
    };
    struct HostCallsOfKind {
        explicit HostCallsOfKind(LogicalDevice& d) : timeline(d), calls(d.health) {}
        Owned<VkSemaphore, &VolkDeviceTable::vkDestroySemaphore> timeline; // counts them
        std::uint64_t value = 0; // the last one given to a call; guarded by queued_mutex_
        HostCalls calls;
    };
    static constexpr double unlimited = std::numeric_limits<double>::infinity();

    void completed(Ticket) noexcept;
    VkResult await(Ticket) noexcept; // wait() without the checker
    VkResult wait_for(VkSemaphore, std::uint64_t value) const noexcept;
    // The following require queued_mutex_.
    void hand_over(double budget, bool at_least_one);
    void give_driver(std::span<const VkSubmitInfo>);
    std::size_t end_of_part(const Queued&, double& budget, bool at_least_one) const;
    void add_batches(const Queued&, std::size_t end);
    HostCalls::Call host_call(const Queued&, const QueuedCall&);
    double left_of_slice() const;
    bool is_dropped(Ticket) const;

    LogicalDevice& device_;
    std::function<void()> lock_external_, unlock_external_;
    Owned<VkSemaphore, &VolkDeviceTable::vkDestroySemaphore> timeline_{device_}, reads_timeline_{device_};
    std::mutex mutex_;
    std::atomic<Ticket> submitted_ = 0, completed_ = 0;
    std::atomic<std::uint64_t> submits_ = 0;
    RetiredList retired_;

    // Guards the following members, and each vkQueueSubmit; taken after mutex_.
    mutable std::mutex queued_mutex_;
    std::deque<Queued> queued_;
    Ticket handed_over_ = 0;
    std::uint64_t reads_ = 0;         // the last value of reads_timeline_
    std::vector<VkSubmitInfo> infos_; // scratch space of hand_over()
    std::deque<Batch> batches_;
    std::vector<HandedCall> handed_calls_; // the host calls of these batches
    std::atomic<bool> has_slices_ = false;
    double slice_ = 0;      // nanoseconds
    double slice_left_ = 0; // estimated nanoseconds of work that still fits
    std::chrono::steady_clock::time_point slice_began_{};
    std::vector<std::pair<Ticket, Ticket>> dropped_; // ranges, ascending
    std::atomic<bool> any_dropped_ = false;
    // By HostCall::Kind; the last member, as its threads use the others.
    std::array<HostCallsOfKind, 2> host_calls_{HostCallsOfKind(device_), HostCallsOfKind(device_)};
};

} // namespace reprise::device::vulkan
