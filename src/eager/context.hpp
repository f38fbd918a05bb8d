// A device as the graph sees it: it computes pending nodes by planning and running them, and holds what they
// gave.
#pragma once
#include <atomic>
#include <cstdint>
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

class Context final : public graph::Evaluator, public std::enable_shared_from_this<Context> {
public:
    explicit Context(std::shared_ptr<device::Device>);

    // -- graph::Evaluator --
    const std::string& name() const override { return device_->capabilities().id; }
    void accept(const char* by, const graph::Op* op, DType) const override;
    void evaluate(std::span<const graph::Value>) override;
    void read(const graph::Value&, std::span<std::byte> to) override;
    std::shared_ptr<graph::Storage> upload(const char* by, const graph::TensorType&,
                                           std::span<const std::byte> from) override;
    void release(std::span<const graph::Node* const>) override;
    void discard(std::span<const graph::Node* const>) override;
    void appended(const graph::Node&) override;
    void co_schedule(const graph::Node&) override;

    const std::shared_ptr<device::Device>& device() const { return device_; }
    std::recursive_mutex& mutex() { return mutex_; }
    // The value in memory of its own, row-major from the start: the same value where it is that already.
    graph::Value row_major(const graph::Value&);
    graph::Value copy_of(const graph::Value&); // row-major, in memory that nobody else has
    // `copy` as the value of the cell, a leaf as `v` was.
    graph::Value replaced(const graph::Value& v, const graph::Value& copy,
                          const std::shared_ptr<graph::Cell>&);
    // Counts for stats(): a plan and its launches, an arena that was laid out.
    void count_plan(const plan::Plan&);
    void count_placed(std::uint64_t bytes) { bytes_placed_ += bytes; }
    // Before a call, without the lock: waits where too many are in flight.
    void make_room() { run_ahead_.make_room(*device_); }
    void submitted(device::Ticket); // a call; 0: it had no launches
    void set_calls_in_flight(std::uint32_t most) { run_ahead_.set_limit(most); }
    // evaluate() where something has no value, which may wait; and under the lock, which does not.
    void evaluate_pending(std::span<const graph::Value>);
    void evaluate_locked(std::span<const graph::Value> targets) { compute(targets); }
    // Bytes of the values that live segments do not keep and recompute, by layer.
    std::map<std::string, std::uint64_t> recomputed_bytes() const;
    void set_memory_budget(std::optional<std::uint64_t> bytes) { memory_budget_ = bytes.value_or(no_budget); }
    std::optional<std::uint64_t> memory_budget() const
    {
        const std::uint64_t bytes = memory_budget_;
        return bytes == no_budget ? std::nullopt : std::optional(bytes);
    }
    // The plans of eager code that are used again.
    void set_eager_plans(std::size_t structures);
    std::string describe_eager_plans() const;
    void add_to(Stats&) const;

private:
    void note_recomputed(const std::vector<graph::Value>&);
    enum class Origin : std::uint8_t { user, library }; // whose evaluation the budget is for, and is not
    void compute(std::span<const graph::Value> targets, Origin = Origin::user);
    using CoScheduled = std::vector<std::shared_ptr<const graph::Node>>;
    void compute(std::span<const graph::Value> targets, Origin, CoScheduled beside);
    bool replayed(const Evaluation&, GraphKey&, Origin); // false: no compiled graph serves it
    void plan_once(const Evaluation&, Origin);
    void replay(const Evaluation&, const DynamicValues&, CompiledGraph&);
    void store(const Evaluation&, const execution::Executable&, const execution::Executable::Outcome&);
    std::unique_ptr<execution::Executable> executable_of(const plan::Request&, Origin) const;
    CoScheduled co_scheduled() const; // by this thread, and pending
    void forget_computed();
    void flush();
    bool needs_call(std::span<const graph::Value>);

    std::shared_ptr<device::Device> device_;
    mutable std::recursive_mutex mutex_; // of evaluation; of user code only destructors run under it
    GraphCache graph_cache_;             // under it
    execution::RunAhead run_ahead_;
    Evaluation evaluation_; // of earlier ones, for their memory
    GraphKey key_;
    std::uint64_t evaluations_ = 0;
    mutable std::mutex queue_mutex_;
    using Queue = std::vector<std::weak_ptr<const graph::Node>>;
    // By thread, as nodes of a segment are evaluated by its own thread only.  At most 4096 wait for a thread; the queue of a
    // thread that has ended goes when its nodes are gone.
    using Queues = std::map<std::thread::id, Queue>;
    Queues appended_; // since the last flush
    Queues co_scheduled_;
    std::vector<std::weak_ptr<const graph::Segment>>
        recomputed_; // those with values of this device to recompute
    static constexpr std::uint64_t no_budget = std::numeric_limits<std::uint64_t>::max();
    std::atomic<std::uint64_t> memory_budget_ = no_budget; // of one evaluation
    std::atomic<std::uint64_t> plans_ = 0, launches_ = 0, nodes_ = 0, bytes_placed_ = 0;
};

} // namespace reprise::eager
