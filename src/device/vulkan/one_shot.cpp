#include "device/vulkan/one_shot.hpp"
#include "device/vulkan/barriers.hpp"
#include "device/vulkan/segments.hpp"
#include <algorithm>
#include <reprise/error.hpp>

namespace reprise::device::vulkan {

namespace {
constexpr std::size_t max_in_flight = 64; // retired objects of recordings and transfers
} // namespace

OneShot::OneShot(std::shared_ptr<Context> context, std::span<const LaunchDeclaration> launches,
                 const RecordingOptions& options)
    : context_(std::move(context)), parameters_(launches), resources_(std::make_unique<Resources>())
{
    const LogicalDevice& device = context_->device;
    context_->queue.bound_retired(max_in_flight);
    const std::vector<VkPipeline> pipelines = context_->pipelines.get(launches, true);
    launches_.reserve(launches.size());
    for (std::size_t i = 0; i < launches.size(); ++i) {
        launches_.push_back({pipelines[i], context_->epoch_of(launches[i], i), {}});
    }
    const std::uint64_t bytes = std::max<std::uint64_t>(parameters_.bytes(), 16);
    if (context_->direct_parameters) {
        resources_->records = context_->parameters.allocate(bytes);
    } else {
        resources_->records = context_->staging.allocate(bytes);
        resources_->copy = context_->blocks.allocate(bytes);
    }
    if (options.timestamps && device.physical().timestamp_bits > 0) {
        resources_->timestamps =
            std::make_unique<Timestamps>(device, context_->readback, 1, parameters_.launches());
    }
}

OneShot::~OneShot() { context_->queue.retire(ticket_, std::move(resources_)); }

void OneShot::begin()
{
    context_->device.health.require_alive("begin");
    lists_.clear();
    reads_.clear();
    set_ = 0;
}

void OneShot::set(std::uint32_t launch, const LaunchArguments& arguments)
{
    const Buffer& slab = context_->slab.buffer();
    const Grid grid =
        parameters_.write(resources_->records.host(), launch, arguments, slab.address(), slab.bytes());
    launches_[launch].grid = grid;
    ++set_;
}

Ticket OneShot::submit()
{
    if (ticket_ != 0) {
        reprise::detail::fail(ErrorKind::state, "submit", "A one-shot recording is submitted once.");
    }
    if (set_ < parameters_.launches()) fail_unset(set_, parameters_.launches());
    if (lists_.empty()) {
        record();
    }
    // These launches were never timed, so on GPUs, whose drivers kill long jobs, each command buffer is one batch.
    const bool watchdog = !context_->device.physical().is_cpu();
    ticket_ = context_->submit({.lists = lists_, .per_batch = watchdog ? 1 : lists_.size(), .reads = reads_});
    context_->replays.fetch_add(1, std::memory_order_relaxed);
    return ticket_;
}

void OneShot::record()
{
    const LogicalDevice& device = context_->device;
    if (!resources_->arena) {
        resources_->arena = context_->arenas.take();
    }
    std::vector<VkCommandBuffer> lists;
    std::size_t first = 0;
    do {
        const std::size_t last = std::min<std::size_t>(first + segment_launches, launches_.size());
        const VkCommandBuffer list = resources_->arena->begin(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
                                                              CommandArena::Holds::launches);
        full_barrier(device, list);
        if (first == 0 && resources_->timestamps) {
            resources_->timestamps->write_begin(list, 0);
        }
        if (first == 0 && resources_->copy) {
            const VkBufferCopy copy{resources_->records.offset(), resources_->copy.offset(),
                                    resources_->copy.bytes()};
            device.vk.vkCmdCopyBuffer(list, buffer_of(resources_->records), buffer_of(resources_->copy), 1,
                                      &copy);
            barrier(device, list, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT);
        }
        context_->slab.bind(list);
        record_launches(list, first, last);
        if (last == launches_.size()) {
            if (resources_->timestamps) {
                resources_->timestamps->write_end(list, 0, parameters_.launches());
            }
            host_barrier(device, list);
        }
        resources_->arena->end(list);
        lists.push_back(list);
        first = last;
    } while (first < launches_.size());
    lists_ = std::move(lists);
}

void OneShot::record_launches(VkCommandBuffer list, std::size_t first, std::size_t last) const
{
    const LogicalDevice& device = context_->device;
    const Address base = resources_->copy ? resources_->copy.address() : resources_->records.address();
    VkPipeline bound = VK_NULL_HANDLE;
    std::uint32_t epoch = first < last ? launches_[first].epoch : 0; // the list began with a barrier
    bool pending = false; // true: a launch of this epoch was dispatched after the last barrier
    for (std::size_t i = first; i < last; ++i) {
        const Launch& launch = launches_[i];
        if (resources_->timestamps) {
            resources_->timestamps->write_mark(list, static_cast<std::uint32_t>(i));
        }
        if (launch.grid.x == 0) {
            continue;
        }
        if (launch.epoch != epoch && pending) {
            epoch_barrier(device, list);
            pending = false;
        }
        epoch = launch.epoch;
        if (launch.pipeline != bound) {
            bound = launch.pipeline;
            device.vk.vkCmdBindPipeline(list, VK_PIPELINE_BIND_POINT_COMPUTE, bound);
        }
        const Address record = base + parameters_.offset(static_cast<std::uint32_t>(i));
        device.vk.vkCmdPushConstants(list, context_->slab.pipeline_layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                     sizeof record, &record);
        device.vk.vkCmdDispatch(list, launch.grid.x, launch.grid.y, 1);
        pending = true;
    }
}

Recording::Times OneShot::times()
{
    if (!resources_->timestamps || ticket_ == 0 || !context_->queue.done(ticket_)) {
        return {};
    }
    return {ticket_, resources_->timestamps->marks(0, parameters_.launches())};
}

} // namespace reprise::device::vulkan
