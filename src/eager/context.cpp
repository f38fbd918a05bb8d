#include "eager/context.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <unordered_map>

#include <reprise/error.hpp>

#include "base/log.hpp"
#include "execution/budget.hpp"
#include "execution/executable.hpp"
#include "execution/storage.hpp"
#include "graph/cell.hpp"
#include "graph/segment.hpp"
#include "kernels/chain.hpp"
#include "ops/registry.hpp"

namespace reprise::eager {

using execution::Executable;
using execution::Stored;
using graph::Node;
using graph::Value;

namespace {

constexpr std::size_t max_queue_length = 4096; // nodes whose values nobody has requested
std::mutex recomputed_mutex;                   // guards Segment::recomputed_bytes and Context::recomputed_

} // namespace

Context::Context(std::shared_ptr<device::Device> device) : device_(std::move(device)), graph_cache_(device_)
{}

void Context::note_recomputed(const std::vector<Value>& values)
{
    if (values.empty()) return;
    const std::lock_guard lock(recomputed_mutex);
    std::erase_if(recomputed_, [](const auto& segment) { return segment.expired(); });
    for (const Value& v : values) {
        const graph::Segment& s = *graph::interior_of(*v.node);
        const auto [account, is_new] = s.recomputed_bytes.try_emplace(this);
        if (is_new) recomputed_.push_back(s.weak_from_this());
        account->second.try_emplace({v.node->id, v.index}, execution::bytes_of(v.type()));
    }
}

std::map<std::string, std::uint64_t> Context::recomputed_bytes() const
{
    const std::lock_guard lock(recomputed_mutex);
    std::map<std::string, std::uint64_t> out;
    for (const auto& weak : recomputed_)
        if (const auto segment = weak.lock()) {
            std::uint64_t& sum = out[segment->layer];
            for (const auto& [value, bytes] : segment->recomputed_bytes.at(this)) sum += bytes;
        }
    return out;
}

void Context::accept(const char* by, const graph::Op* op, DType dtype) const
{
    const device::Capabilities& c = device_->capabilities();
    if (dtype != f64 || c.host_kernels || !c.computes) return;
    if (!c.float64)
        detail::fail(ErrorKind::unsupported, by, "The device (", name(),
                     ") has no f64 arithmetic: use f32, or the reference device.");
    if (!op || kernels::serves_doubles(*op)) return;
    detail::fail(ErrorKind::unsupported, by, "The op has no f64 kernels on the device (", name(),
                 ") yet: cast to f32, or use the reference device.");
}

// Whether some target must be computed on the device.  Values that exist need no call, nor do views of them.
bool Context::needs_call(std::span<const Value> targets)
{
    const std::lock_guard lock(mutex_);
    return std::any_of(targets.begin(), targets.end(), [](const Value& v) {
        const Value* base = &v;
        while (base && !base->node->materialised()) base = graph::view_base(*base);
        return !base;
    });
}

void Context::evaluate_pending(std::span<const Value> values)
{
    if (needs_call(values)) evaluate(values);
}

void Context::submitted(device::Ticket ticket)
{
    if (ticket != 0) run_ahead_.submitted(ticket);
}

void Context::evaluate(std::span<const Value> targets)
{
    if (!run_ahead_.has_room(*device_) && needs_call(targets)) make_room();
    std::lock_guard lock(mutex_);
    compute(targets);
}

std::unique_ptr<Executable> Context::executable_of(const plan::Request& request, Origin who) const
{
    if (const auto budget = memory_budget(); budget && who == Origin::user)
        return std::move(execution::within_budget(request, {.bytes = *budget, .caller = "memory"}, device_,
                                                  Executable::Purpose::once)
                             .front());
    return std::make_unique<Executable>(plan::compile(request), device_, Executable::Purpose::once);
}

void Context::compute(std::span<const Value> requested, Origin who)
{
    std::exception_ptr error_with_co_scheduled;
    if (auto co_scheduled_nodes = who == Origin::user ? co_scheduled() : CoScheduled();
        !co_scheduled_nodes.empty())
        try {
            return compute(requested, who, std::move(co_scheduled_nodes));
        } catch (const Error& error) { // perhaps caused by a co-scheduled value
            if (error.kind() == ErrorKind::device_lost) throw;
            error_with_co_scheduled = std::current_exception();
        }
    try {
        compute(requested, who, {});
    } catch (const Error&) {
        // With a budget it throws the first error, as a repeated try would.
        if (error_with_co_scheduled && memory_budget()) std::rethrow_exception(error_with_co_scheduled);
        throw;
    }
}

void Context::compute(std::span<const Value> requested, Origin who, CoScheduled co_scheduled_nodes)
{
    Evaluation e = std::exchange(evaluation_, {}); // reuses the memory of the last evaluation
    GraphKey key = std::exchange(key_, {});
    evaluation_of(*this, requested, std::move(co_scheduled_nodes), e);
    if (!e.nodes.empty() && !replayed(e, key, who)) plan_once(e, who);
    nodes_ += e.nodes.size();
    note_recomputed(e.recomputed);
    for (const Value& v : e.results)
        if (v.node->is_leaf || !v.node->on_tape()) v.node->inputs.clear();
    remove_computed();
    e.results.clear();
    e.recomputed.clear();
    evaluation_ = std::move(e);
    key_ = std::move(key);
}

namespace {
Executable::Call call_of(const Context& context, const Evaluation& e)
{
    Executable::Call call;
    call.externals.reserve(e.externals.size());
    for (const Value* v : e.externals) {
        const Stored& s = Stored::of(*v);
        context.require_computed(s);
        call.externals.push_back({s.memory->address, s.memory->bytes});
        if (s.written && context.has_slices()) call.reads.push_back(s.written);
    }
    return call;
}
} // namespace

void Context::require_computed(const Stored& s) const
{
    if (s.written && device_->dropped(s.written))
        detail::fail(ErrorKind::cancelled, "cancel",
                     "The tensor was not computed, as Device::cancel() has dropped the call: call it again.");
}

void Context::plan_once(const Evaluation& e, Origin who)
{
    plan::Request request{.nodes = e.nodes, .results = e.results, .capabilities = &device_->capabilities()};
    for (const Value* v : e.externals) {
        const Stored& s = Stored::of(*v);
        const execution::Strides strides =
            s.layout ? s.layout->strides : execution::row_major_strides(v->type().shape);
        request.externals.push_back({*v, {strides.begin(), strides.end()}, s.layout ? s.layout->offset : 0});
    }
    const std::unique_ptr<Executable> executable = executable_of(request, who);
    count_plan(executable->compiled().plan);
    Executable::Call call = call_of(*this, e);
    executable->query_host_scalars(call.numbers);
    const Executable::Outcome outcome = executable->run_once(call);
    submitted(outcome.ticket);
    count_placed(executable->bytes_placed());
    store(e, *executable, outcome);
}

// Returns false with a memory budget, as a compiled graph may need more memory than a plan for these sizes only.
bool Context::replayed(const Evaluation& e, GraphKey& key, Origin who)
{
    if (who == Origin::user && memory_budget()) return false;
    make_key(e, key);
    try {
        CompiledGraph* const graph = graph_cache_.find(e, key);
        if (graph) replay(e, key.values, *graph);
        return graph != nullptr;
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::out_of_memory && error.kind() != ErrorKind::unsupported) throw;
        graph_cache_.refuse(error);
        return false;
    }
}

void Context::replay(const Evaluation& e, const DynamicValues& values, CompiledGraph& graph)
{
    Executable::Call call = call_of(*this, e);
    if (graph.is_new()) count_plan(graph.executable().compiled().plan);
    const std::uint64_t before = graph.executable().bytes_placed();
    const Executable::Outcome outcome = graph.run(values, call);
    submitted(outcome.ticket);
    count_placed(graph.executable().bytes_placed() - before);
    store(e, graph.executable(), outcome);
}

void Context::store(const Evaluation& e, const Executable& executable, const Executable::Outcome& outcome)
{
    for (std::size_t i = 0; i < e.results.size(); ++i) {
        const plan::PlanValue& value =
            executable.compiled().plan.values[executable.compiled().results[i].value];
        const Stored* of =
            value.place == plan::Place::external ? &Stored::of(*e.externals[value.slot]) : nullptr;
        const Value& v = e.results[i];
        auto stored = std::make_shared<Stored>(
            of ? of->memory : executable.output(outcome, executable.compiled().results[i].value),
            execution::bytes_of(v.type()), executable.result_layout(i));
        stored->written = of ? of->written : outcome.ticket;
        v.node->storage[v.index] = std::move(stored);
    }
    for (const Value& v : e.results) v.node->has_storage.store(true, std::memory_order_release);
}

// Removes nodes that have values or no longer exist from the queues.  In queues of other threads it removes only nodes
// that no longer exist: a reference to a live node, held for the check, would make it seem used to a segment that its
// thread may be closing.
void Context::remove_computed()
{
    constexpr std::uint64_t sweep_interval =
        256; // evaluations between two sweeps of the queues of other threads
    const bool others = ++evaluations_ % sweep_interval == 0;
    const auto self = std::this_thread::get_id();
    std::vector<std::shared_ptr<const Node>> held; // released after the lock, as a node may be destroyed here
    const std::lock_guard lock(queue_mutex_);
    for (Queues* queues : {&appended_, &co_scheduled_}) {
        for (auto at = queues->begin(); others && at != queues->end();) {
            std::erase_if(at->second, [](const auto& weak) { return weak.expired(); });
            at = at->second.empty() && at->first != self ? queues->erase(at) : std::next(at);
        }
        const auto mine = queues->find(self);
        if (mine == queues->end()) continue;
        std::erase_if(mine->second, [&](const auto& weak) {
            const auto& n = held.emplace_back(weak.lock());
            return !n || n->materialised();
        });
    }
}

Context::CoScheduled Context::co_scheduled() const
{
    CoScheduled out;
    {
        const std::lock_guard lock(queue_mutex_);
        if (const auto mine = co_scheduled_.find(std::this_thread::get_id()); mine != co_scheduled_.end())
            for (const auto& weak : mine->second)
                if (auto n = weak.lock()) out.push_back(std::move(n));
    }
    // Without the lock, as this may destroy nodes.
    std::erase_if(out, [](const auto& n) { return n->materialised(); });
    return out;
}

void Context::co_schedule(const Node& n)
{
    if (n.trace) return;
    const std::lock_guard lock(queue_mutex_);
    co_scheduled_[std::this_thread::get_id()].push_back(n.weak_from_this());
}

void Context::set_eager_plans(std::size_t structures)
{
    const std::lock_guard lock(mutex_);
    graph_cache_.set_limit(structures);
}
std::string Context::describe_eager_plans() const
{
    const std::lock_guard lock(mutex_);
    return graph_cache_.text();
}

void Context::read(const Value& v, std::span<std::byte> to)
{
    evaluate({&v, 1});
    if (to.empty()) return;
    Value dense = v;
    std::uint64_t offset = 0;
    {
        const std::lock_guard lock(mutex_);
        if (const auto in_a_row = Stored::of(v).dense_offset(v.type())) offset = *in_a_row;
        else dense = copy_of(v);
    }
    const Stored& s = Stored::of(dense);
    require_computed(s);
    const device::Address from = s.memory->address + offset;
    if (s.written && s.memory->host) { // waits for this value only, not for work submitted later
        device_->wait(s.written);
        std::memcpy(to.data(), s.memory->host + offset, to.size());
    } else if (s.written && !s.memory->external) device_->download_result(from, to, s.written);
    else device_->download(from, to);
    require_computed(s); // the call may have been dropped while this thread waited
}

void Context::set_slice(std::optional<std::chrono::nanoseconds> slice)
{
    const std::lock_guard lock(mutex_); // no call is made in between
    device_->set_slice(slice);
    has_slices_ = slice.has_value();
    forget_done_calls();
}

bool Context::advance()
{
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) forget_done_calls();
    return device_->advance();
}

void Context::forget_done_calls()
{
    const auto is_over = [&](const Undo& u) { return device_->done(u.call) && !device_->dropped(u.call); };
    while (!undos_.empty() && is_over(undos_.front())) undos_.pop_front();
}

void Context::undo_if_dropped(device::Ticket call, std::weak_ptr<Undoable> by)
{
    forget_done_calls();
    undos_.push_back({call, std::move(by)});
}

std::size_t Context::cancel()
{
    const std::size_t calls = device_->cancel(); // without the lock, which a thread that waits may hold
    std::vector<Undo> dropped;
    {
        const std::lock_guard lock(mutex_);
        while (!undos_.empty() && device_->dropped(undos_.back().call)) { // they are the newest ones
            dropped.push_back(std::move(undos_.back()));
            undos_.pop_back();
        }
        forget_done_calls();
    }
    if (calls > 0) detail::log(LogLevel::info, "Dropped calls on ", name(), ": ", calls, ".");
    std::exception_ptr failed;
    for (const Undo& u : dropped) {
        try {
            if (const auto by = u.by.lock()) by->undo(u.call);
        } catch (...) { // the others are undone all the same
            failed = std::current_exception();
        }
    }
    if (failed) std::rethrow_exception(failed);
    return calls;
}

bool Context::is_ready(const Value& v)
{
    const std::lock_guard lock(mutex_);
    const Value* base = &v; // a view is ready once what it shows is
    while (base && !base->node->materialised()) base = graph::view_base(*base);
    if (!base) return false;
    const Stored& s = Stored::of(*base);
    require_computed(s);
    return device_->done(s.written ? s.written : device_->submitted());
}

std::shared_ptr<graph::Storage> Context::upload(const char* by, const graph::TensorType& type,
                                                std::span<const std::byte> from)
{
    accept(by, nullptr, type.dtype);
    std::lock_guard lock(mutex_);
    const std::uint64_t bytes = execution::bytes_of(type);
    auto stored = std::make_shared<Stored>(device_->allocate(std::max<std::uint64_t>(bytes, 16)), bytes);
    if (!from.empty()) device_->upload(stored->memory->address, from);
    return stored;
}

Value Context::row_major(const Value& v)
{
    std::lock_guard lock(mutex_);
    return Stored::of(v).row_major() ? v : copy_of(v);
}

Value Context::copy_of(const Value& v)
{
    std::lock_guard lock(mutex_);
    graph::Suspend outside;
    const Value copy{graph::append(ops::contiguous_op, {v}, {}, shared_from_this(), false), 0};
    compute({&copy, 1}, Origin::library);
    return copy;
}

Value Context::replaced(const Value& v, const Value& copy, const std::shared_ptr<graph::Cell>& cell)
{
    graph::Suspend outside;
    const bool leaf = v.node->is_leaf && v.node->requires_grad;
    const Value out = graph::leaf(v.type(), shared_from_this(), copy.node->storage[copy.index], leaf);
    if (leaf) graph::set_owner(*out.node, cell);
    return out;
}

void Context::release(std::span<const Node* const> nodes)
{
    std::lock_guard lock(mutex_);
    for (const Node* n : nodes) {
        if (n->materialised()) n->inputs.clear();
        const graph::Segment* s = n->segment ? graph::interior_of(*n) : nullptr;
        if (!s) continue;
        const std::lock_guard account_lock(recomputed_mutex);
        if (const auto account = s->recomputed_bytes.find(this); account != s->recomputed_bytes.end())
            for (std::uint32_t i = 0; i < n->outputs.size(); ++i) account->second.erase({n->id, i});
    }
}

void Context::discard(std::span<const Node* const> nodes)
{
    std::lock_guard lock(mutex_);
    for (const Node* n : nodes) // nodes off the tape have dropped their inputs and can't be recomputed
        if (n->materialised() && n->on_tape() && !n->is_leaf) {
            n->has_storage = false;
            std::fill(n->storage.begin(), n->storage.end(), nullptr);
        }
}

void Context::appended(const Node& n)
{
    if (n.trace || n.op->view || n.op->number) return;
    {
        std::lock_guard lock(queue_mutex_);
        Queue& mine = appended_[std::this_thread::get_id()];
        mine.push_back(n.weak_from_this());
        if (mine.size() < max_queue_length) return;
    }
    try {
        flush();
    } catch (const Error&) { // not an error of the appended op; reading the value that failed throws it again
    }
}

// Computes the pending nodes that this thread has appended and that are still referred to.
void Context::flush()
{
    Queue queue;
    {
        std::lock_guard lock(queue_mutex_);
        queue.swap(appended_[std::this_thread::get_id()]);
    }
    std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<const Node>> alive;
    std::unordered_map<const Node*, long> inside;
    for (const auto& weak : queue)
        if (auto n = weak.lock(); n && !n->materialised()) alive.push_back(std::move(n));
    for (const auto& n : alive)
        for (const Value& v : n->inputs) ++inside[v.node.get()];
    std::vector<Value> targets;
    for (const auto& n : alive)
        if (n.use_count() > inside[n.get()] + 1 && !graph::interior_of(*n))
            for (std::uint32_t i = 0; i < n->outputs.size(); ++i) targets.push_back({n, i});
    alive.clear(); // these references must not count as uses of the nodes
    compute(targets);
}

void Context::count_plan(const plan::Plan& p)
{
    ++plans_;
    launches_ += p.launches.size();
}

void Context::add_to(Stats& s) const
{
    s.plans += plans_;
    s.launches += launches_;
    s.bytes_placed += bytes_placed_;
    s.eager_replays += graph_cache_.hits();
    s.eager_plans += graph_cache_.size();
    s.eager_nodes += nodes_;
    const device::Counters d = device_->counters();
    s.recordings += d.recordings;
    s.transfers += d.transfers;
    s.captures += d.captures;
    s.replays += d.replays;
    s.pipelines += d.pipelines;
    s.shader_modules += d.shader_modules;
}

} // namespace reprise::eager
