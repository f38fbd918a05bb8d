// A recording that is made once and replayed (docs/architecture/replay.md).  A call is one list of command buffers:
//   the slot's prologue  full barrier, slot copied into the fixed block, barrier to indirect, shader reads
//   the shared segments  at most 64 launches each: dispatches, epoch barriers, timestamps, no ranges
//   the slot's epilogue  timestamps to the host's memory, barrier to host reads
#pragma once
#include "device/vulkan/context.hpp"
#include "device/vulkan/parameters.hpp"
#include "device/vulkan/timestamps.hpp"

namespace reprise::device::vulkan {

class Replay : public Recording {
public:
    Replay(std::shared_ptr<Context>, std::span<const LaunchDeclaration>, const RecordingOptions&);
    ~Replay() override;
    Replay(const Replay&) = delete;
    Replay& operator=(const Replay&) = delete;

    void begin() override;
    void set(std::uint32_t launch, const LaunchArguments&) override;
    Ticket submit() override;
    Times times() override;

private:
    struct Resources : Retired {
        CommandArenas::Lease arena;
        Slice slots;                            // the host's, one after the other
        Slice block;                            // the device's
        std::unique_ptr<Timestamps> timestamps; // null: none
    };
    struct Slot {
        Ticket ticket = 0; // of its last call
        std::byte* host = nullptr;
        VkCommandBuffer prologue = VK_NULL_HANDLE, epilogue = VK_NULL_HANDLE;
        bool holds_rare = false; // a call has written records of rarely dispatched launches here
    };

    void record_slot(std::uint32_t slot);
    std::vector<VkCommandBuffer> record_segments(std::span<const LaunchDeclaration>,
                                                 const std::vector<VkPipeline>&, bool with_rare);
    VkCommandBuffer open(VkCommandBufferUsageFlags);
    Ticket submit(Slot&);
    void warm_up();
    const Slot* newest_done();
    void adapt_batches();

    std::shared_ptr<Context> context_;
    Parameters parameters_;
    std::unique_ptr<Resources> resources_; // handed to the queue at the end
    std::vector<Slot> slots_;
    std::vector<bool> rare_;                        // by launch
    std::vector<VkCommandBuffer> segments_, usual_; // all launches; all but those that are rarely dispatched
    std::vector<VkCommandBuffer> lists_;            // scratch of submit()
    Address slab_ = 0;
    std::uint64_t slab_bytes_ = 0, slot_bytes_ = 0;
    std::uint32_t launches_timed_ = 0;
    std::uint32_t current_ = 0, set_ = 0; // launches set in this replay
    bool open_ = false;
    bool runs_rare_ = false; // this replay
    std::size_t per_batch_ = ~std::size_t{0};
    Ticket warmed_up_ = 0; // of the warm-up, which is no call
};

} // namespace reprise::device::vulkan
