// Copies between the host and device memory.  Uploads are staged and batched: a batch is submitted before the next
// submission, or when it is full.  The host waits for the device only to limit the staging memory.  If the memory is
// visible to the host and nothing is in flight, an upload is a plain memcpy.
#pragma once
#include "device/vulkan/buffer.hpp"
#include "device/vulkan/command_arena.hpp"
#include "device/vulkan/memory.hpp"
#include "device/vulkan/queue.hpp"

namespace reprise::device::vulkan {

class Transfers {
public:
    Transfers(const LogicalDevice&, Queue&, const DeviceMemory&, CommandArenas&, SlicePool& staging,
              SlicePool& readback);

    void upload(Address to, std::span<const std::byte> from);
    void download(Address from, std::span<std::byte> to);
    void download_result(Address from, std::span<std::byte> to, Ticket by); // of a range that is not empty
    void flush();                                                           // submits pending uploads

    // Both require the queue's lock.  take() appends the pending command buffers, to be submitted before other work ...
    void take(std::vector<VkCommandBuffer>& lists);
    // ... and submitted() sets their ticket.  Without this call they stay pending.
    void submitted(Ticket);

private:
    struct Batch : Retired {
        CommandArenas::Lease arena;
        std::vector<Slice> staging;
        VkCommandBuffer list = VK_NULL_HANDLE;
        std::uint64_t bytes = 0;
    };
    struct Target {
        VkBuffer buffer;
        std::uint64_t offset, bytes;
    };
    struct InFlight {
        Ticket ticket;
        std::uint64_t bytes;
    };

    std::unique_ptr<Batch> begin_batch();
    void stage(const Target&, const std::byte* from);
    void order_after_overlapping(const Target&);
    void flush_locked();
    void bound_staging();
    template <class Run> void copy_pieces(const DeviceMemory::Location&, std::span<std::byte> to, const Run&);
    void download_staged(const DeviceMemory::Location&, std::span<std::byte> to);

    const LogicalDevice& device_;
    Queue& queue_;
    const DeviceMemory& memory_;
    CommandArenas& arenas_;
    SlicePool& staging_;
    SlicePool& readback_;
    // The following members are guarded by the queue's lock.
    std::unique_ptr<Batch> open_;                // being recorded
    std::vector<std::unique_ptr<Batch>> closed_; // returned by take(), not yet submitted
    std::vector<Target> targets_;                // of the open batch, since its last barrier
    std::deque<InFlight> in_flight_;
    std::uint64_t in_flight_bytes_ = 0;
    std::vector<VkCommandBuffer> lists_; // scratch space
};

} // namespace reprise::device::vulkan
