#include "device/vulkan/recording.hpp"
#include "device/vulkan/barriers.hpp"
#include "device/vulkan/segments.hpp"
#include <algorithm>
#include <cstring>
#include <reprise/error.hpp>

namespace reprise::device::vulkan {

namespace {
constexpr double batch_nanoseconds = 100e6; // target time of one batch; drivers kill jobs that take seconds
} // namespace

VulkanRecording::VulkanRecording(std::shared_ptr<Context> context,
                                 std::span<const LaunchDeclaration> launches, const RecordingOptions& options)
    : context_(std::move(context)), parameters_(launches), resources_(std::make_unique<Resources>()),
      slots_(std::max<std::uint32_t>(options.slots, 1)), slab_(context_->slab.buffer().address()),
      slab_bytes_(context_->slab.buffer().bytes())
{
    const LogicalDevice& device = context_->device;
    const std::vector<VkPipeline> pipelines = context_->pipelines.get(launches);
    const std::uint64_t block_bytes = std::max<std::uint64_t>(parameters_.bytes(), 16);
    slot_bytes_ = (block_bytes + 255) / 256 * 256;
    resources_->slots = context_->staging.allocate(slot_bytes_ * slots_.size());
    resources_->block = context_->blocks.allocate(block_bytes);
    std::memset(resources_->slots.host(), 0, slot_bytes_ * slots_.size()); // all launches have 0 groups
    const bool can_time = device.physical().timestamp_bits > 0;
    launches_timed_ = options.timestamps && can_time ? parameters_.launches() : 0;
    const bool watchdog = !device.physical().is_cpu();
    if (can_time && (options.timestamps || watchdog)) {
        resources_->timestamps = std::make_unique<Timestamps>(
            device, context_->readback, static_cast<std::uint32_t>(slots_.size()), launches_timed_);
    }
    per_batch_ = watchdog ? 1 : ~std::size_t{0};
    resources_->arena = context_->arenas.take();
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
        slots_[i].host = resources_->slots.host() + i * slot_bytes_;
        record_slot(i);
    }
    for (const LaunchDeclaration& launch : launches) {
        rare_.push_back(launch.rarely_dispatched);
    }
    usual_ = record_segments(launches, pipelines, false);
    const bool any = std::find(rare_.begin(), rare_.end(), true) != rare_.end();
    segments_ = any ? record_segments(launches, pipelines, true) : usual_;
    lists_.reserve(segments_.size() + 2);
    if (options.warm_up) {
        warm_up();
    }
}

// Drivers compile a pipeline at its first dispatch, even one with 0 groups, so that record() includes the compile time.
void VulkanRecording::warm_up()
{
    warmed_up_ = submit(slots_[0]);
    try {
        context_->queue.wait(warmed_up_);
    } catch (...) {
        context_->queue.retire(warmed_up_, std::move(resources_));
        throw;
    }
}

VulkanRecording::~VulkanRecording()
{
    Ticket last = 0;
    for (const Slot& slot : slots_) {
        last = std::max(last, slot.ticket);
    }
    context_->queue.retire(last, std::move(resources_));
}

VkCommandBuffer VulkanRecording::open(VkCommandBufferUsageFlags flags)
{
    return resources_->arena->begin(flags, CommandArena::Holds::launches);
}

void VulkanRecording::record_slot(std::uint32_t i)
{
    const LogicalDevice& device = context_->device;
    Slot& slot = slots_[i];
    slot.prologue = open(0);
    full_barrier(device, slot.prologue); // waits until the previous call's reads of the block end
    if (resources_->timestamps) {
        resources_->timestamps->write_begin(slot.prologue, i);
    }
    const VkBufferCopy copy{resources_->slots.offset() + i * slot_bytes_, resources_->block.offset(),
                            resources_->block.bytes()};
    device.vk.vkCmdCopyBuffer(slot.prologue, buffer_of(resources_->slots), buffer_of(resources_->block), 1,
                              &copy);
    barrier(device, slot.prologue, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
            VK_ACCESS_INDIRECT_COMMAND_READ_BIT | VK_ACCESS_SHADER_READ_BIT);
    resources_->arena->end(slot.prologue);

    slot.epilogue = open(0);
    if (resources_->timestamps) {
        resources_->timestamps->write_end(slot.epilogue, i);
    }
    host_barrier(device, slot.epilogue);
    resources_->arena->end(slot.epilogue);
}

std::vector<VkCommandBuffer> VulkanRecording::record_segments(std::span<const LaunchDeclaration> launches,
                                                              const std::vector<VkPipeline>& pipelines,
                                                              bool with_rare)
{
    std::vector<VkCommandBuffer> lists;
    const LogicalDevice& device = context_->device;
    const VkBuffer block = buffer_of(resources_->block);
    const std::uint64_t block_offset = resources_->block.offset();
    const Address block_address = resources_->block.address();
    for (const Segment& segment : split_into_segments(launches)) {
        const VkCommandBuffer list = open(VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
        context_->slab.bind(list);
        VkPipeline bound = VK_NULL_HANDLE;
        for (std::uint32_t i = segment.first; i < segment.last; ++i) {
            if (i == segment.first || launches[i].epoch != launches[i - 1].epoch) {
                epoch_barrier(device, list);
            }
            if (launches_timed_ > 0) {
                resources_->timestamps->write_launch(list, i);
            }
            if (launches[i].rarely_dispatched && !with_rare) {
                continue;
            }
            if (pipelines[i] != bound) {
                bound = pipelines[i];
                device.vk.vkCmdBindPipeline(list, VK_PIPELINE_BIND_POINT_COMPUTE, bound);
            }
            const Address record = block_address + parameters_.offset(i);
            device.vk.vkCmdPushConstants(list, context_->slab.pipeline_layout(), VK_SHADER_STAGE_COMPUTE_BIT,
                                         0, sizeof record, &record);
            device.vk.vkCmdDispatchIndirect(list, block, block_offset + parameters_.head_offset(i));
        }
        resources_->arena->end(list);
        lists.push_back(list);
    }
    return lists;
}

void VulkanRecording::begin()
{
    const std::uint32_t next = open_ ? current_ : (current_ + 1) % static_cast<std::uint32_t>(slots_.size());
    context_->queue.wait(slots_[next].ticket);
    adapt_batches();
    current_ = next;
    set_ = 0;
    runs_rare_ = false;
    open_ = true;
}

// Returns null if no call is finished.
const VulkanRecording::Slot* VulkanRecording::newest_done()
{
    const Slot* newest = nullptr;
    for (const Slot& slot : slots_) {
        const bool better = slot.ticket > warmed_up_ && (!newest || slot.ticket > newest->ticket);
        if (better && context_->queue.done(slot.ticket)) {
            newest = &slot;
        }
    }
    return newest;
}

// Sets the number of segments of one batch, from the measured time of the newest finished call.
void VulkanRecording::adapt_batches()
{
    if (!resources_->timestamps || context_->device.physical().is_cpu()) {
        return;
    }
    const Slot* const slot = newest_done();
    if (!slot) {
        return;
    }
    const double lists = static_cast<double>(segments_.size() + 2);
    const double took = resources_->timestamps->duration(static_cast<std::uint32_t>(slot - slots_.data()));
    per_batch_ =
        static_cast<std::size_t>(std::clamp(batch_nanoseconds / std::max(took / lists, 1.0), 1.0, lists));
}

void VulkanRecording::set(std::uint32_t launch, const LaunchArguments& arguments)
{
    if (!open_) {
        reprise::detail::fail(ErrorKind::internal, "set", "The replay was not begun: call begin() first.");
    }
    ++set_;
    if (rare_[launch]) {
        bool& written = slots_[current_].holds_rare;
        runs_rare_ = runs_rare_ || arguments.groups > 0;
        written = written || runs_rare_;
        if (!written) { // the record in the slot still has 0 groups
            return;
        }
    }
    parameters_.write(slots_[current_].host, launch, arguments, slab_, slab_bytes_);
}

Ticket VulkanRecording::submit()
{
    if (!open_ || set_ < parameters_.launches()) fail_unset(set_, parameters_.launches());
    const Ticket ticket = submit(slots_[current_]);
    open_ = false;
    context_->replays.fetch_add(1, std::memory_order_relaxed);
    return ticket;
}

Ticket VulkanRecording::submit(Slot& slot)
{
    lists_.clear();
    lists_.push_back(slot.prologue);
    const std::vector<VkCommandBuffer>& segments = runs_rare_ ? segments_ : usual_;
    lists_.insert(lists_.end(), segments.begin(), segments.end());
    lists_.push_back(slot.epilogue);
    slot.ticket = context_->submit(lists_, per_batch_);
    return slot.ticket;
}

Recording::Times VulkanRecording::times()
{
    context_->device.health.require_alive("times");
    const Slot* const newest = newest_done();
    if (!newest || launches_timed_ == 0) {
        return {};
    }
    return {newest->ticket,
            resources_->timestamps->launches(static_cast<std::uint32_t>(newest - slots_.data()))};
}

} // namespace reprise::device::vulkan
