#include "device/vulkan/recording.hpp"
#include "device/vulkan/barriers.hpp"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <reprise/error.hpp>
#include <utility>

namespace reprise::device::vulkan {

namespace {
constexpr double batch_nanoseconds = 100e6; // target time of one batch; drivers kill jobs that take seconds
constexpr double least_nanoseconds = 1000;  // of a segment, with its barrier; timestamps may be coarse
// With slices one of so many calls is measured: on drivers for CPUs two timestamps take as long as a small launch.
constexpr std::uint32_t calls_per_measurement = 16;
} // namespace

VulkanRecording::VulkanRecording(std::shared_ptr<Context> context,
                                 std::span<const LaunchDeclaration> launches, const RecordingOptions& options)
    : context_(std::move(context)), parameters_(launches), slots_(std::max<std::uint32_t>(options.slots, 1)),
      slab_(context_->slab.buffer().address()), slab_bytes_(context_->slab.buffer().bytes()),
      times_launches_(options.timestamps), droppable_(options.droppable)
{
    const std::vector<VkPipeline> pipelines =
        context_->pipelines.get(launches, options.warm_up, options.progress);
    for (std::size_t i = 0; i < launches.size(); ++i) {
        const LaunchDeclaration& launch = launches[i];
        launches_.push_back({pipelines[i], context_->epoch_of(launch, i), 0,
                             launch.rarely_dispatched ? std::optional(launch.kernel) : std::nullopt,
                             launch.on_host, false});
    }
    find_host_launches(launches);
    const auto state = std::find_if(launches.begin(), launches.end(),
                                    [](const LaunchDeclaration& launch) { return launch.writes_state; });
    first_state_ = static_cast<std::uint32_t>(state - launches.begin());
    for (const HostLaunch& h : host_launches_) // they begin with their epoch
        if (launches[h.launch].writes_state) first_state_ = std::min(first_state_, h.first);
    record_all();
    if (options.warm_up) {
        warm_up();
    }
}

void VulkanRecording::find_host_launches(std::span<const LaunchDeclaration> launches)
{
    const auto first_of = [&](std::uint32_t epoch) { // the first launch of this epoch or a later one
        const auto at =
            std::find_if(launches.begin(), launches.end(), [&](const auto& l) { return l.epoch >= epoch; });
        return static_cast<std::uint32_t>(at - launches.begin());
    };
    for (std::uint32_t i = 0; i < launches.size(); ++i) {
        if (!launches[i].on_host) continue;
        HostLaunch& h = host_launches_.emplace_back(
            HostLaunch{i, first_of(launches[i].epoch), first_of(launches[i].joins), launches[i].kernel.host,
                       launches[i].native ? HostCall::native : HostCall::exchange});
        for (const std::uint32_t edge : {h.first, h.joins})
            if (edge < launches_.size()) launches_[edge].cut = true;
    }
}

// The host calls of this replay.  List 0 is the prologue, the last one the epilogue.
std::vector<HostCall> VulkanRecording::host_calls(const Slot& slot) const
{
    std::vector<HostCall> calls;
    for (std::size_t i = 0; i < host_launches_.size(); ++i) {
        const HostLaunch& h = host_launches_[i];
        (*slot.host_times)[i] = 0;
        if (h.arguments.groups == 0) continue;
        HostCall& call = calls.emplace_back();
        call.kind = h.kind;
        call.after = 1 + launches_[h.first].segment;
        call.before = 1 + (h.joins < launches_.size() ? launches_[h.joins].segment : segments_.size());
        call.run = [function = h.function, times = slot.host_times, i,
                    arguments = std::make_shared<const HostArguments>(h.arguments)] {
            const auto begun = std::chrono::steady_clock::now();
            (*function)(arguments->view());
            const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begun;
            (*times)[i] = took.count();
        };
    }
    return calls;
}

// Makes all command buffers, for the queue as it is now: with or without slices.
void VulkanRecording::record_all()
{
    const LogicalDevice& device = context_->device;
    sliced_ = context_->queue.has_slices();
    segments_ = split_into_segments(launches_, sliced_ ? 1 : segment_aim);
    const auto count = static_cast<std::uint32_t>(segments_.size());
    resources_ = std::make_unique<Resources>();
    const std::uint64_t block_bytes = std::max<std::uint64_t>(parameters_.bytes(), 16);
    slot_bytes_ = (block_bytes + 255) / 256 * 256;
    resources_->slots = context_->staging.allocate(slot_bytes_ * slots_.size());
    resources_->block = context_->blocks.allocate(block_bytes);
    std::memset(resources_->slots.host(), 0, slot_bytes_ * slots_.size()); // all launches have 0 groups
    const bool can_time = device.physical().timestamp_bits > 0;
    launches_timed_ = times_launches_ && can_time ? parameters_.launches() : 0;
    const bool watchdog = !device.physical().is_cpu();
    if (can_time && (times_launches_ || watchdog || sliced_)) {
        resources_->timestamps = std::make_unique<Timestamps>(
            device, context_->readback, static_cast<std::uint32_t>(slots_.size()),
            launches_timed_ + (sliced_ ? 2 * count : 0)); // the begin and end of each segment
    }
    per_batch_ = watchdog ? 1 : ~std::size_t{0};
    resources_->arena = context_->arenas.take();
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
        slots_[i] = {.host = resources_->slots.host() + i * slot_bytes_,
                     .groups = std::vector<std::uint64_t>(sliced_ ? count : 0),
                     .host_times = std::make_shared<HostTimes>(host_launches_.size())};
        const std::uint32_t marks = launches_timed_ + (sliced_ ? 2 * count : 0);
        slots_[i].usual = record_ends(i, times_launches_ || watchdog, launches_timed_);
        slots_[i].measured = sliced_ ? record_ends(i, true, marks) : slots_[i].usual;
    }
    writes_state_from_ = Work::none;
    for (std::uint32_t s = 0; s < count; ++s) {
        for (std::uint32_t i = segments_[s].first; i < segments_[s].last; ++i) launches_[i].segment = s;
        if (first_state_ >= segments_[s].first && first_state_ < segments_[s].last) writes_state_from_ = s;
    }
    for (const HostLaunch& h : host_launches_) launches_[h.launch].segment = launches_[h.first].segment;
    time_per_group_.assign(sliced_ ? count : 0, -1);
    usual_ = record_segments({});
    measured_ = sliced_ && resources_->timestamps ? record_segments({.marks = true}) : usual_;
    bool any = false;
    for (Launch& launch : launches_) {
        launch.is_listed = launch.pipeline != VK_NULL_HANDLE;
        any = any || (launch.rare && launch.is_listed);
    }
    complete_ = any ? record_segments({.rare = true}) : usual_;
    calls_ = 0;
    measured_groups_ = 0;
    time_between_ = 0;
    resume_ = VK_NULL_HANDLE;
    if (sliced_) {
        resume_ = open(VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
        full_barrier(device, resume_); // the application may have submitted something in between
        resources_->arena->end(resume_);
    }
    lists_.reserve(segments_.size() + 2);
}

// Records the segments whose lists lack a rare launch of this call, and creates the pipelines that they need.  At its
// second time a segment gets all of its rare launches, so that there is no third.
void VulkanRecording::record_rare()
{
    const auto is_missing = [](const Launch& l) { return l.rare && l.runs && !l.is_listed; };
    std::vector<std::uint32_t> segments;
    std::vector<Launch*> needed;
    for (std::uint32_t s = 0; s < segments_.size(); ++s) {
        const std::span launches = launches_of(s);
        if (std::none_of(launches.begin(), launches.end(), is_missing)) continue;
        segments.push_back(s);
        for (Launch& launch : launches)
            if (launch.rare && !launch.pipeline && (launch.runs || complete_[s] != usual_[s]))
                needed.push_back(&launch);
    }
    if (!needed.empty()) { // the cache's lock may be held while another thread's kernels are compiled
        std::vector<const Kernel*> kernels;
        for (const Launch* const launch : needed) kernels.push_back(&*launch->rare);
        const std::vector<VkPipeline> pipelines = context_->pipelines.get(kernels);
        for (std::size_t i = 0; i < needed.size(); ++i) needed[i]->pipeline = pipelines[i];
    }
    for (const std::uint32_t s : segments) {
        complete_[s] = record_segment(s, {.rare = true});
        for (Launch& launch : launches_of(s)) launch.is_listed = launch.pipeline != VK_NULL_HANDLE;
    }
}

// Drivers compile a pipeline at its first dispatch, even one with 0 groups, so that record() includes the compile time.
void VulkanRecording::warm_up()
{
    warmed_up_ = submit(slots_[0], false);
    try {
        context_->queue.wait(warmed_up_);
    } catch (...) {
        context_->queue.retire(warmed_up_, std::move(resources_));
        throw;
    }
}

VulkanRecording::~VulkanRecording() { retire(); }

void VulkanRecording::retire() noexcept
{
    Ticket last = 0;
    for (Slot& slot : slots_) {
        last = std::max(last, std::exchange(slot.ticket, 0));
    }
    context_->queue.retire(last, std::move(resources_));
}

VkCommandBuffer VulkanRecording::open(VkCommandBufferUsageFlags flags)
{
    return resources_->arena->begin(flags, CommandArena::Holds::launches);
}

VulkanRecording::Ends VulkanRecording::record_ends(std::uint32_t slot, bool timed, std::uint32_t marks)
{
    const LogicalDevice& device = context_->device;
    const Timestamps* const times = timed ? resources_->timestamps.get() : nullptr;
    const Ends ends{open(0), open(0)};
    full_barrier(device, ends.prologue); // waits until the previous call's reads of the block end
    if (times) {
        times->write_begin(ends.prologue, slot);
    }
    const VkBufferCopy copy{resources_->slots.offset() + slot * slot_bytes_, resources_->block.offset(),
                            resources_->block.bytes()};
    device.vk.vkCmdCopyBuffer(ends.prologue, buffer_of(resources_->slots), buffer_of(resources_->block), 1,
                              &copy);
    barrier(device, ends.prologue, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
            VK_ACCESS_INDIRECT_COMMAND_READ_BIT | VK_ACCESS_SHADER_READ_BIT);
    resources_->arena->end(ends.prologue);

    if (times) {
        times->write_end(ends.epilogue, slot, marks);
    }
    host_barrier(device, ends.epilogue);
    resources_->arena->end(ends.epilogue);
    return ends;
}

std::vector<VkCommandBuffer> VulkanRecording::record_segments(SegmentOptions with)
{
    std::vector<VkCommandBuffer> lists;
    for (std::uint32_t s = 0; s < segments_.size(); ++s) lists.push_back(record_segment(s, with));
    return lists;
}

VkCommandBuffer VulkanRecording::record_segment(std::uint32_t s, SegmentOptions with)
{
    const Segment& segment = segments_[s];
    const LogicalDevice& device = context_->device;
    const VkBuffer block = buffer_of(resources_->block);
    const std::uint64_t block_offset = resources_->block.offset();
    const Address block_address = resources_->block.address();
    const Timestamps* const times = resources_->timestamps.get();
    const VkCommandBuffer list = open(VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    const std::uint32_t mark = launches_timed_ + 2 * s;
    context_->slab.bind(list);
    if (launches_[segment.first].cut) host_call_barrier(device, list);
    VkPipeline bound = VK_NULL_HANDLE;
    for (std::uint32_t i = segment.first; i < segment.last; ++i) {
        const Launch& launch = launches_[i];
        // Before the barrier, as lavapipe takes the time of a mark at the next barrier or indirect dispatch.
        if (i == segment.first && with.marks) {
            times->write_mark(list, mark);
        }
        const bool is_marked = i == segment.first && i > 0 && launch.cut; // by the segment before
        if (launches_timed_ > 0 && !is_marked) {
            times->write_mark(list, i);
        }
        if (i == segment.first || launch.epoch != launches_[i - 1].epoch) {
            epoch_barrier(device, list);
        }
        if (!launch.pipeline || (launch.rare && !with.rare)) {
            continue;
        }
        if (launch.pipeline != bound) {
            bound = launch.pipeline;
            device.vk.vkCmdBindPipeline(list, VK_PIPELINE_BIND_POINT_COMPUTE, bound);
        }
        const Address record = block_address + parameters_.offset(i);
        device.vk.vkCmdPushConstants(list, context_->slab.pipeline_layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                     sizeof record, &record);
        device.vk.vkCmdDispatchIndirect(list, block, block_offset + parameters_.head_offset(i));
    }
    if (with.marks) {
        times->write_mark(list, mark + 1);
    }
    if (segment.last < launches_.size() && launches_[segment.last].cut) {
        // The next launch gets the time for which its segment waits.
        if (launches_timed_ > 0) times->write_mark(list, segment.last);
        host_barrier(device, list);
    }
    resources_->arena->end(list);
    return list;
}

void VulkanRecording::begin()
{
    if (!resources_ || sliced_ != context_->queue.has_slices()) {
        retire();
        open_ = false;
        warmed_up_ = 0;
        try {
            record_all();
        } catch (...) {
            resources_.reset();
            throw;
        }
    }
    const std::uint32_t next = open_ ? current_ : (current_ + 1) % static_cast<std::uint32_t>(slots_.size());
    context_->queue.wait(slots_[next].ticket);
    adapt_batches();
    if (sliced_) measure_segments();
    slots_[next].ticket = 0; // its times no longer belong to its arguments
    current_ = next;
    set_ = 0;
    for (HostLaunch& h : host_launches_) h.arguments.groups = 0;
    reads_.clear();
    slots_[next].groups.assign(time_per_group_.size(), 0);
    runs_rare_ = false;
    open_ = true;
}

// Returns null if no call is finished.
const VulkanRecording::Slot* VulkanRecording::newest_done(bool measured)
{
    const Slot* newest = nullptr;
    for (const Slot& slot : slots_) {
        const bool better = slot.ticket > warmed_up_ && (!measured || slot.is_measured) &&
                            (!newest || slot.ticket > newest->ticket);
        if (better && context_->queue.done(slot.ticket) && !context_->queue.dropped(slot.ticket)) {
            newest = &slot;
        }
    }
    return newest;
}

// Sets the number of segments of one batch, from the measured time of the newest finished call.
void VulkanRecording::adapt_batches()
{
    if (!resources_->timestamps || sliced_ || context_->device.physical().is_cpu()) {
        return;
    }
    const Slot* const slot = newest_done();
    if (!slot) {
        return;
    }
    const double lists = static_cast<double>(segments_.size() + 2);
    const double took = resources_->timestamps->duration(number_of(*slot));
    per_batch_ =
        static_cast<std::size_t>(std::clamp(batch_nanoseconds / std::max(took / lists, 1.0), 1.0, lists));
}

void VulkanRecording::set(std::uint32_t launch, const LaunchArguments& arguments)
{
    if (!open_) {
        reprise::detail::fail(ErrorKind::internal, "set", "The replay was not begun: call begin() first.");
    }
    parameters_.check(launch, arguments);
    ++set_;
    if (sliced_) slots_[current_].groups[launches_[launch].segment] += arguments.groups;
    if (launches_[launch].on_host) {
        set_host_launch(launch, arguments);
        return;
    }
    if (launches_[launch].rare) {
        launches_[launch].runs = arguments.groups > 0;
        bool& written = slots_[current_].holds_rare;
        runs_rare_ = runs_rare_ || arguments.groups > 0;
        written = written || runs_rare_;
        if (!written) { // the record in the slot still has 0 groups
            return;
        }
    }
    parameters_.write(slots_[current_].host, launch, arguments, slab_, slab_bytes_);
}

void VulkanRecording::set_host_launch(std::uint32_t launch, const LaunchArguments& arguments)
{
    const auto h = std::find_if(host_launches_.begin(), host_launches_.end(),
                                [&](const HostLaunch& one) { return one.launch == launch; });
    h->arguments.assign(arguments);
    if (h->kind == HostCall::native) return; // addresses are those of the host
    for (Operand& o : h->arguments.operands)
        o.address = reinterpret_cast<std::uintptr_t>(context_->memory.locate(o.address, o.bytes).host);
}

Ticket VulkanRecording::submit()
{
    if (!open_ || set_ < parameters_.launches()) fail_unset(set_, parameters_.launches());
    const Ticket ticket = submit(slots_[current_], droppable_);
    open_ = false;
    context_->replays.fetch_add(1, std::memory_order_relaxed);
    return ticket;
}

Ticket VulkanRecording::submit(Slot& slot, bool droppable)
{
    slot.is_measured = droppable_ == droppable && wants_measurement(slot);
    const Ends& ends = slot.is_measured ? slot.measured : slot.usual;
    if (runs_rare_) record_rare();
    const std::vector<VkCommandBuffer>& segments = runs_rare_         ? complete_
                                                   : slot.is_measured ? measured_
                                                                      : usual_;
    lists_.clear();
    lists_.push_back(ends.prologue);
    lists_.insert(lists_.end(), segments.begin(), segments.end());
    lists_.push_back(ends.epilogue);
    costs_.clear();
    if (sliced_) estimate_costs(slot);
    const std::vector<HostCall> calls = host_calls(slot);
    const bool exchanges = std::any_of(calls.begin(), calls.end(),
                                       [](const auto& call) { return call.kind == HostCall::exchange; });
    slot.ticket = context_->submit(
        {.lists = lists_,
         .per_batch = per_batch_,
         .costs = costs_,
         .droppable = droppable && !exchanges,
         .writes_state_from = writes_state_from_ == Work::none ? Work::none : 1 + writes_state_from_,
         .reads = reads_,
         .resume = resume_,
         .host_calls = calls});
    return slot.ticket;
}

// Whether the call is to be measured: one of 16 of similar size, and each of another size than the last one measured.
bool VulkanRecording::wants_measurement(const Slot& slot)
{
    if (!sliced_ || !resources_->timestamps || runs_rare_) return false;
    const std::uint64_t groups = std::accumulate(slot.groups.begin(), slot.groups.end(), std::uint64_t{0});
    const bool is_similar = 4 * groups <= 5 * measured_groups_ && 5 * groups >= 4 * measured_groups_;
    if (is_similar && ++calls_ % calls_per_measurement != 0) return false;
    measured_groups_ = groups;
    return true;
}

// Takes the times of the segments from the newest finished call that was measured.
void VulkanRecording::measure_segments()
{
    const Slot* const newest = resources_->timestamps ? newest_done(true) : nullptr;
    if (!newest) return;
    const auto count = static_cast<std::uint32_t>(time_per_group_.size());
    const auto time_of = [&](std::uint32_t mark) {
        return resources_->timestamps->mark(number_of(*newest), launches_timed_ + mark);
    };
    gaps_.clear();
    std::vector<double> native(count, 0); // by segment
    for (std::size_t i = 0; i < host_launches_.size(); ++i)
        if (host_launches_[i].kind == HostCall::native)
            native[launches_[host_launches_[i].launch].segment] += (*newest->host_times)[i];
    for (std::uint32_t s = 0; s < count; ++s) {
        if (s > 0) gaps_.push_back(time_of(2 * s) - time_of(2 * s - 1));
        if (newest->groups[s] == 0) continue;
        const double took = std::max({time_of(2 * s + 1) - time_of(2 * s), native[s], least_nanoseconds});
        time_per_group_[s] = took / static_cast<double>(newest->groups[s]);
    }
    if (gaps_.empty()) return;
    const auto middle = gaps_.begin() + static_cast<std::ptrdiff_t>(gaps_.size() / 2);
    std::nth_element(gaps_.begin(), middle, gaps_.end());
    time_between_ = *middle; // the median, as the pauses between slices are among them
}

// The time of a segment grows with the number of its workgroups, which depends on the sizes of the call.
void VulkanRecording::estimate_costs(const Slot& slot)
{
    costs_.push_back(0); // the prologue
    for (std::size_t s = 0; s < time_per_group_.size(); ++s) {
        const double time = time_per_group_[s] * static_cast<double>(slot.groups[s]); // negative: unknown
        costs_.push_back(time < 0 ? time : time + time_between_);
    }
    costs_.push_back(0);
}

Recording::Times VulkanRecording::times()
{
    context_->device.health.require_alive("times");
    const Slot* const newest = newest_done();
    if (!newest || launches_timed_ == 0) {
        return {};
    }
    Times times{newest->ticket, resources_->timestamps->marks(number_of(*newest), launches_timed_)};
    add_native_times(*newest, times.begun);
    return times;
}

// What follows native code begins after it, while its mark is from before.
void VulkanRecording::add_native_times(const Slot& slot, std::vector<double>& begun) const
{
    for (std::size_t i = 0; i < host_launches_.size(); ++i) {
        const HostLaunch& h = host_launches_[i];
        if (h.kind != HostCall::native) continue;
        double& next = begun[h.launch + 1]; // the last element is the end of the call
        next = std::max(next, begun[h.launch] + (*slot.host_times)[i]);
    }
}

} // namespace reprise::device::vulkan
