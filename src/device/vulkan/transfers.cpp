#include "device/vulkan/transfers.hpp"
#include "device/vulkan/barriers.hpp"
#include <algorithm>
#include <cstring>

namespace reprise::device::vulkan {

namespace {

constexpr std::uint64_t piece_bytes = 4 * mebi;    // maximum of one copy; larger ones are split
constexpr std::uint64_t batch_bytes = 8 * mebi;    // a batch of at least this size is submitted
constexpr std::uint64_t staging_limit = 32 * mebi; // uploads wait while more is in flight
constexpr std::size_t max_targets = 64;            // remembered at most; then a barrier is inserted unchecked

} // namespace

Transfers::Transfers(const LogicalDevice& device, Queue& queue, const DeviceMemory& memory,
                     CommandArenas& arenas, SlicePool& staging, SlicePool& readback)
    : device_(device), queue_(queue), memory_(memory), arenas_(arenas), staging_(staging), readback_(readback)
{}

void Transfers::upload(Address to, std::span<const std::byte> from)
{
    device_.health.require_alive("upload");
    if (from.empty()) {
        return;
    }
    const DeviceMemory::Location location = memory_.locate(to, from.size());
    const auto lock = queue_.lock();
    if (location.host && !open_ && closed_.empty() && queue_.idle()) {
        std::memcpy(location.host, from.data(), from.size());
        return;
    }
    for (std::uint64_t at = 0; at < from.size(); at += piece_bytes) {
        bound_staging();
        const std::uint64_t bytes = std::min(piece_bytes, from.size() - at);
        stage({location.buffer, location.offset + at, bytes}, from.data() + at);
        if (open_->bytes >= batch_bytes) {
            flush_locked();
        }
    }
}

void Transfers::stage(const Target& target, const std::byte* from)
{
    Slice slice = staging_.allocate(target.bytes);
    std::memcpy(slice.host(), from, target.bytes);
    if (!open_) {
        auto batch = begin_batch();
        targets_.clear();
        open_ = std::move(batch);
    }
    order_after_overlapping(target);
    const VkBufferCopy copy{slice.offset(), target.offset, target.bytes};
    const VkBuffer source = buffer_of(slice);
    open_->staging.push_back(std::move(slice));
    open_->bytes += target.bytes;
    device_.vk.vkCmdCopyBuffer(open_->list, source, target.buffer, 1, &copy);
}

std::unique_ptr<Transfers::Batch> Transfers::begin_batch()
{
    auto batch = std::make_unique<Batch>();
    batch->arena = arenas_.take();
    batch->list =
        batch->arena->begin(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, CommandArena::Holds::copies);
    full_barrier(device_, batch->list);
    return batch;
}

// Copies of one batch run in any order: a copy that overlaps the target of an earlier one needs a barrier.
void Transfers::order_after_overlapping(const Target& target)
{
    const auto overlaps = [&](const Target& t) {
        return t.buffer == target.buffer && t.offset < target.offset + target.bytes &&
               target.offset < t.offset + t.bytes;
    };
    if (targets_.size() >= max_targets || std::any_of(targets_.begin(), targets_.end(), overlaps)) {
        barrier(device_, open_->list, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT);
        targets_.clear();
    }
    targets_.push_back(target);
}

void Transfers::bound_staging()
{
    while (in_flight_bytes_ > staging_limit) {
        queue_.wait(in_flight_.front().ticket);
        in_flight_bytes_ -= in_flight_.front().bytes;
        in_flight_.pop_front();
        queue_.collect();
    }
}

void Transfers::take(std::vector<VkCommandBuffer>& lists)
{
    if (open_) {
        host_barrier(device_, open_->list);
        closed_.reserve(closed_.size() + 1);
        open_->arena->end(open_->list);
        closed_.push_back(std::move(open_));
    }
    for (const auto& batch : closed_) {
        lists.push_back(batch->list);
    }
}

void Transfers::submitted(Ticket ticket)
{
    for (auto& batch : closed_) {
        in_flight_.push_back({ticket, batch->bytes});
        in_flight_bytes_ += batch->bytes;
        queue_.retire(ticket, std::move(batch));
    }
    closed_.clear();
    while (!in_flight_.empty() && queue_.reached(in_flight_.front().ticket)) {
        in_flight_bytes_ -= in_flight_.front().bytes;
        in_flight_.pop_front();
    }
}

void Transfers::flush()
{
    const auto lock = queue_.lock();
    flush_locked();
}

void Transfers::flush_locked()
{
    if (!open_ && closed_.empty()) {
        return;
    }
    lists_.clear();
    take(lists_);
    submitted(queue_.submit({.lists = lists_, .cost_of_each = 0}));
}

void Transfers::download(Address from, std::span<std::byte> to)
{
    device_.health.require_alive("download");
    if (to.empty()) {
        return;
    }
    const DeviceMemory::Location location = memory_.locate(from, to.size());
    if (!location.host || !location.host_cached) {
        download_staged(location, to);
        return;
    }
    Ticket last = 0;
    {
        const auto lock = queue_.lock();
        flush_locked();
        last = queue_.submitted();
    }
    queue_.wait(last); // every submission ends with a barrier for host reads
    std::memcpy(to.data(), location.host, to.size());
}

// Copies the range in pieces; run(batch) submits the batch's list and waits for it.
template <class Run>
void Transfers::copy_pieces(const DeviceMemory::Location& location, std::span<std::byte> to, const Run& run)
{
    for (std::uint64_t at = 0; at < to.size(); at += piece_bytes) {
        const std::uint64_t bytes = std::min(piece_bytes, to.size() - at);
        auto batch = begin_batch();
        batch->staging.push_back(readback_.allocate(bytes));
        const Slice& slice = batch->staging.front();
        const VkBufferCopy copy{location.offset + at, slice.offset(), bytes};
        device_.vk.vkCmdCopyBuffer(batch->list, location.buffer, buffer_of(slice), 1, &copy);
        host_barrier(device_, batch->list);
        batch->arena->end(batch->list);
        run(batch);
        std::memcpy(to.data() + at, slice.host(), bytes);
    }
}

void Transfers::download_staged(const DeviceMemory::Location& location, std::span<std::byte> to)
{
    copy_pieces(location, to, [&](std::unique_ptr<Batch>& batch) {
        Ticket ticket = 0;
        {
            const auto lock = queue_.lock();
            lists_.clear();
            take(lists_);
            lists_.push_back(batch->list);
            ticket = queue_.submit({.lists = lists_, .cost_of_each = 0});
            submitted(ticket);
        }
        try {
            queue_.wait(ticket);
        } catch (...) {
            queue_.retire(ticket, std::move(batch));
            throw;
        }
    });
}

void Transfers::download_result(Address from, std::span<std::byte> to, Ticket by)
{
    device_.health.require_alive("download");
    queue_.wait(by); // whose last list ends with a barrier for host reads
    const DeviceMemory::Location location = memory_.locate(from, to.size());
    if (location.host && location.host_cached) {
        std::memcpy(to.data(), location.host, to.size());
        return;
    }
    copy_pieces(location, to, [&](const std::unique_ptr<Batch>& batch) { queue_.run_now(batch->list); });
}

} // namespace reprise::device::vulkan
