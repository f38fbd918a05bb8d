#include "device/cuda/recording.hpp"
#include <algorithm>
#include <reprise/error.hpp>

namespace reprise::device::cuda {

namespace {

Constants constants_of(const Kernel& kernel)
{
    if (kernel.constants.size() > Constants::most) {
        reprise::detail::fail(ErrorKind::internal, "record", "The kernel (", kernel.name, ") has (",
                              kernel.constants.size(), ") constants, of at most (", Constants::most, ").");
    }
    Constants c;
    c.count = static_cast<std::uint32_t>(kernel.constants.size());
    std::copy(kernel.constants.begin(), kernel.constants.end(), c.v);
    return c;
}

} // namespace

CudaRecording::CudaRecording(std::shared_ptr<Parts> parts, std::span<const LaunchDeclaration> launches,
                             const RecordingOptions& options)
    : parts_(std::move(parts)), records_(launches), resources_(std::make_unique<Resources>()),
      slots_(options.one_shot ? 1 : std::max<std::uint32_t>(options.slots, 1)), groups_(launches.size()),
      one_shot_(options.one_shot), timed_(options.timestamps)
{
    const Context::Current current(parts_->context);
    parts_->queue.collect();
    const std::uint64_t bytes = std::max<std::uint64_t>(records_.bytes(), 16);
    const std::uint64_t slot_bytes = (bytes + 255) / 256 * 256;
    resources_->slots = parts_->pinned.allocate(slot_bytes * slots_.size());
    resources_->block = parts_->blocks.allocate(bytes);
    const std::vector<Function> functions = parts_->modules.get(launches);
    launches_.reserve(launches.size());
    for (std::size_t i = 0; i < launches.size(); ++i) {
        launches_.push_back({functions[i],
                             resources_->block.address() + records_.offset(static_cast<std::uint32_t>(i)),
                             constants_of(launches[i].kernel), launches[i].epoch});
    }
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        slots_[i].host = resources_->slots.host() + i * slot_bytes;
        if (!timed_) continue;
        slots_[i].events.resize(launches.size() + 1);
        for (CUevent& e : slots_[i].events)
            parts_->context.check("", "cuEventCreate",
                                  [&] { return parts_->context.driver.cuEventCreate(&e, 0); });
    }
    if (!one_shot_ && !timed_ && !launches_.empty()) {
        resources_->graph = std::make_unique<Graph>(parts_->context, launches_);
    }
    ++parts_->recordings;
}

CudaRecording::~CudaRecording()
{
    Ticket last = 0;
    const Context::Current current(parts_->context);
    for (const Slot& slot : slots_) {
        last = std::max(last, slot.ticket);
        for (const CUevent e : slot.events)
            if (e) parts_->context.driver.cuEventDestroy(e);
    }
    parts_->queue.retire(last, std::move(resources_));
}

void CudaRecording::begin()
{
    parts_->context.health.require_alive("begin");
    const std::uint32_t next = open_ ? current_ : (current_ + 1) % static_cast<std::uint32_t>(slots_.size());
    if (slots_[next].ticket > 0 && !one_shot_) parts_->queue.wait(slots_[next].ticket);
    current_ = next;
    set_ = 0;
    open_ = true;
}

void CudaRecording::set(std::uint32_t launch, const LaunchArguments& arguments)
{
    if (!open_) {
        reprise::detail::fail(ErrorKind::internal, "set", "The replay was not begun: call begin() first.");
    }
    records_.write(slots_[current_].host, launch, arguments);
    blocks_of(launches_[launch].function, arguments.groups); // throws where they are too many
    groups_[launch] = arguments.groups;
    ++set_;
}

Ticket CudaRecording::submit()
{
    if (one_shot_ && slots_[0].ticket != 0) {
        reprise::detail::fail(ErrorKind::state, "submit", "A one-shot recording is submitted once.");
    }
    if (!open_ || set_ < records_.launches()) {
        reprise::detail::fail(ErrorKind::internal, "submit", "(", set_, ") of (", records_.launches(),
                              ") launches were set since begin().");
    }
    Slot& slot = slots_[current_];
    Context& context = parts_->context;
    const Context::Current current(context);
    const auto lock = parts_->queue.lock();
    const std::uint64_t bytes = records_.bytes();
    if (bytes > 0) {
        context.check("submit", "cuMemcpyHtoDAsync", [&] {
            return context.driver.cuMemcpyHtoDAsync(resources_->block.address(), slot.host, bytes,
                                                    context.stream());
        });
    }
    if (Graph* graph = resources_->graph.get()) {
        for (std::size_t i = 0; i < groups_.size(); ++i) graph->set(i, groups_[i]);
        graph->launch();
    } else {
        launch_one_by_one(slot);
    }
    slot.ticket = parts_->queue.submitted_now();
    open_ = false;
    ++parts_->submits;
    ++parts_->replays;
    return slot.ticket;
}

void CudaRecording::mark(Slot& slot, std::size_t i)
{
    if (!timed_) return;
    Context& context = parts_->context;
    context.check("", "cuEventRecord",
                  [&] { return context.driver.cuEventRecord(slot.events[i], context.stream()); });
}

void CudaRecording::launch_one_by_one(Slot& slot)
{
    Context& context = parts_->context;
    for (std::size_t i = 0; i < launches_.size(); ++i) {
        mark(slot, i);
        if (groups_[i] == 0) continue;
        GraphLaunch& l = launches_[i];
        void* arguments[] = {&l.record, &l.constants};
        context.check("", "cuLaunchKernel", [&] {
            return context.driver.cuLaunchKernel(l.function.handle, blocks_of(l.function, groups_[i]), 1, 1,
                                                 l.function.threads, 1, 1, 0, context.stream(), arguments,
                                                 nullptr);
        });
    }
    mark(slot, launches_.size());
}

Recording::Times CudaRecording::times()
{
    parts_->context.health.require_alive("times");
    const Slot* newest = nullptr;
    for (const Slot& slot : slots_) {
        const bool better = slot.ticket > 0 && (!newest || slot.ticket > newest->ticket);
        if (better && parts_->queue.done(slot.ticket)) newest = &slot;
    }
    if (!newest || !timed_) return {};
    const Context::Current current(parts_->context);
    Times t{newest->ticket, {}};
    for (const CUevent e : newest->events) {
        float milliseconds = 0;
        parts_->context.check("", "cuEventElapsedTime", [&] {
            return parts_->context.driver.cuEventElapsedTime(&milliseconds, newest->events[0], e);
        });
        t.begun.push_back(double{milliseconds} * 1e6);
    }
    return t;
}

} // namespace reprise::device::cuda
