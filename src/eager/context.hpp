// The context of a device, which implements the graph's evaluator: it plans and runs pending nodes and stores their
// values.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "device/device.hpp"
#include "eager/evaluation.hpp"
#include "eager/graph_cache.hpp"
#include "execution/run_ahead.hpp"
#include "graph/node.hpp"
#include "plan/pipeline.hpp"

namespace reprise::eager {

// What makes calls that Device::cancel() may drop.
class Undoable {
public:
    Undoable() = default;
    virtual ~Undoable() = default;
    Undoable(const Undoable&) = delete;
    Undoable& operator=(const Undoable&) = delete;
    // Undoes what the call has done on the host.  Called for the newest call first, without a lock.
    virtual void undo(device::Ticket call) = 0;
};

class Context final : public graph::Evaluator, public std::enable_shared_from_this<Context> {
public:
    explicit Context(std::shared_ptr<device::Device>);

    // -- graph::Evaluator --
    const std::string& name() const override { return device_->capabilities().id; }
    void accept(const char* by, const graph::Op* op, DType) const override;
    void evaluate(std::span<const graph::Value>) override;
    void read(const graph::Value&, std::span<std::byte> to) override;
    bool is_ready(const graph::Value&) override;
    std::shared_ptr<graph::Storage> upload(const char* by, const graph::TensorType&,
                                           std::span<const std::byte> from) override;
    void release(std::span<const graph::Node* const>) override;
    void discard(std::span<const graph::Node* const>) override;
    void appended(const graph::Node&) override;
    void co_schedule(const graph::Node&) override;

    const std::shared_ptr<device::Device>& device() const { return device_; }
    std::recursive_mutex& mutex() { return mutex_; }
    // Throws Error(cancelled) if Device::cancel() has dropped the call that computes the value.
    void require_computed(const execution::Stored&) const;
    // Device's members of the same names.
    void set_slice(std::optional<std::chrono::nanoseconds>);
    bool advance();
    std::size_t cancel();
    bool has_slices() const { return has_slices_; }
    // Lets cancel() undo a call that it drops.  Requires mutex().
    void undo_if_dropped(device::Ticket, std::weak_ptr<Undoable>);
    // Returns the value itself where it is stored row-major from the start of its memory, else a copy that is.
    graph::Value row_major(const graph::Value&);
    graph::Value copy_of(const graph::Value&); // a row-major copy in new memory
    // Returns `copy` as the new value of the cell in place of `v`: a leaf, which requires a gradient if `v` was a leaf
    // that did.
    graph::Value replaced(const graph::Value& v, const graph::Value& copy,
                          const std::shared_ptr<graph::Cell>&);
    // Count for stats(): a plan and its launches; the bytes of an arena that was laid out.
    void count_plan(const plan::Plan&);
    void count_placed(std::uint64_t bytes) { bytes_placed_ += bytes; }
    // Waits where too many calls are in flight.  Called before a call, without the lock.
    void make_room()
    {
        if (!has_slices_)
            run_ahead_.make_room(*device_); // with slices, the application decides how far ahead it is
    }
    void submitted(device::Ticket); // notes the submission of a call; 0: it had no launches
    void set_calls_in_flight(std::uint32_t max_calls) { run_ahead_.set_limit(max_calls); }
    // evaluate_pending() calls evaluate(), which may wait for calls in flight, if some value is pending.
    // evaluate_locked() is called under the lock and does not wait.
    void evaluate_pending(std::span<const graph::Value>);
    void evaluate_locked(std::span<const graph::Value> targets) { compute(targets); }
    // Returns the bytes of the values that existing segments recompute instead of saving them, by layer.
    std::map<std::string, std::uint64_t> recomputed_bytes() const;
    void set_memory_budget(std::optional<std::uint64_t> bytes) { memory_budget_ = bytes.value_or(no_budget); }
    std::optional<std::uint64_t> memory_budget() const
    {
        const std::uint64_t bytes = memory_budget_;
        return bytes == no_budget ? std::nullopt : std::optional(bytes);
    }
    // The compiled graphs of eager code, which are reused.
    void set_eager_plans(std::size_t structures);
    std::string describe_eager_plans() const;
    void add_to(Stats&) const;

private:
    void note_recomputed(const std::vector<graph::Value>&);
    enum class Origin : std::uint8_t { user, library }; // the memory budget applies to `user` only
    void compute(std::span<const graph::Value> targets, Origin = Origin::user);
    using CoScheduled = std::vector<std::shared_ptr<const graph::Node>>;
    void compute(std::span<const graph::Value> targets, Origin, CoScheduled co_scheduled_nodes);
    bool replayed(const Evaluation&, GraphKey&, Origin); // false: no compiled graph serves it
    void plan_once(const Evaluation&, Origin);
    void replay(const Evaluation&, const DynamicValues&, CompiledGraph&);
    void store(const Evaluation&, const execution::Executable&, const execution::Executable::Outcome&);
    std::unique_ptr<execution::Executable> executable_of(const plan::Request&, Origin) const;
    CoScheduled co_scheduled() const; // the pending nodes that this thread has co-scheduled
    void remove_computed();
    void flush();
    bool needs_call(std::span<const graph::Value>);

    std::shared_ptr<device::Device> device_;
    mutable std::recursive_mutex mutex_; // guards evaluation; of user code only destructors run under it
    GraphCache graph_cache_;             // guarded by mutex_
    execution::RunAhead run_ahead_;
    Evaluation evaluation_; // like key_, from the last evaluation, to reuse the memory
    GraphKey key_;
    std::uint64_t evaluations_ = 0;
    std::atomic<bool> has_slices_ = false;
    void forget_done_calls();
    struct Undo {
        device::Ticket call;
        std::weak_ptr<Undoable> by;
    };
    std::deque<Undo> undos_; // of calls that may be dropped; guarded by mutex_
    mutable std::mutex queue_mutex_;
    using Queue = std::vector<std::weak_ptr<const graph::Node>>;
    // By thread, as only the thread that runs a segment evaluates its nodes.  A thread's queue holds at most 4096
    // nodes.  The queue of a thread that has ended is removed once its nodes no longer exist.
    using Queues = std::map<std::thread::id, Queue>;
    Queues appended_; // since the last flush
    Queues co_scheduled_;
    std::vector<std::weak_ptr<const graph::Segment>>
        recomputed_; // the segments that recompute values on this device
    static constexpr std::uint64_t no_budget = std::numeric_limits<std::uint64_t>::max();
    std::atomic<std::uint64_t> memory_budget_ = no_budget; // bytes, for one evaluation
    std::atomic<std::uint64_t> plans_ = 0, launches_ = 0, nodes_ = 0, bytes_placed_ = 0;
};

} // namespace reprise::eager
