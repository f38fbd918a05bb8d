// A recording that is recorded once and replayed (docs/architecture/replay.md).  A call submits these command buffers:
//   the slot's prologue  full barrier, copy of the slot to the fixed block, barrier for indirect and shader reads
//   the shared segments  at most 64 launches each: dispatches, epoch barriers, timestamps; no barriers for ranges;
//                        with slices (Queue) one for each epoch, whose time is sometimes measured
//   the slot's epilogue  copy of timestamps to host memory, barrier for host reads
#pragma once
#include "device/vulkan/context.hpp"
#include "device/vulkan/parameters.hpp"
#include "device/vulkan/segments.hpp"
#include "device/vulkan/timestamps.hpp"
#include <atomic>
#include <optional>
#include <span>

namespace reprise::device::vulkan {

class VulkanRecording : public Recording {
public:
    VulkanRecording(std::shared_ptr<Context>, std::span<const LaunchDeclaration>, const RecordingOptions&);
    ~VulkanRecording() override;
    VulkanRecording(const VulkanRecording&) = delete;
    VulkanRecording& operator=(const VulkanRecording&) = delete;

    void begin() override;
    void set(std::uint32_t launch, const LaunchArguments&) override;
    Ticket submit() override;
    void depends_on(Ticket ticket) override { reads_.push_back(ticket); }
    Times times() override;

private:
    struct Resources : Retired {
        CommandArenas::Lease arena;
        Slice slots;                            // host memory, one slot after the other
        Slice block;                            // device memory
        std::unique_ptr<Timestamps> timestamps; // null: none
    };
    using HostTimes = std::vector<std::atomic<double>>; // nanoseconds, by host launch
    struct Ends {
        VkCommandBuffer prologue = VK_NULL_HANDLE, epilogue = VK_NULL_HANDLE;
    };
    struct Slot {
        Ticket ticket = 0; // of the slot's last call
        std::byte* host = nullptr;
        Ends usual{}, measured{}; // measured: with the times of segments
        bool is_measured = false; // the last call
        bool holds_rare = false;  // a call has written records of rarely dispatched launches to this slot
        std::vector<std::uint64_t> groups{}; // of the call, by segment; with slices
        std::shared_ptr<HostTimes> host_times{};
    };
    struct Launch {
        VkPipeline pipeline; // null: a host call, or a rare launch that was not dispatched yet
        std::uint32_t epoch, segment;
        std::optional<Kernel> rare; // of a launch that is rarely dispatched
        bool on_host, cut;          // cut: begins a segment, as a host call begins or ends before it
        bool runs = false, is_listed = false; // if rare: in this replay; in complete_
    };
    struct HostLaunch {
        std::uint32_t launch;
        std::uint32_t first,
            joins; // the first launches of its epoch and of the one that waits; may be the end
        std::shared_ptr<const HostFunction> function;
        HostCall::Kind kind;
        HostArguments arguments{}; // of this replay
    };

    void find_host_launches(std::span<const LaunchDeclaration>);
    void set_host_launch(std::uint32_t launch, const LaunchArguments&);
    std::vector<HostCall> host_calls(const Slot&) const;
    void add_native_times(const Slot&, std::vector<double>& begun) const;
    void record_all();
    Ends record_ends(std::uint32_t slot, bool timed, std::uint32_t marks);
    struct SegmentOptions {
        bool rare = false;  // with launches that are rarely dispatched
        bool marks = false; // with a timestamp at the begin and end of each segment
    };
    std::vector<VkCommandBuffer> record_segments(SegmentOptions);
    VkCommandBuffer record_segment(std::uint32_t segment, SegmentOptions);
    void record_rare();
    std::span<Launch> launches_of(std::uint32_t segment)
    {
        const auto [first, last] = segments_[segment];
        return std::span(launches_).subspan(first, last - first);
    }
    void retire() noexcept;
    VkCommandBuffer open(VkCommandBufferUsageFlags);
    Ticket submit(Slot&, bool droppable);
    void warm_up();
    const Slot* newest_done(bool measured = false);
    void adapt_batches();
    bool wants_measurement(const Slot&);
    void measure_segments();
    void estimate_costs(const Slot&);
    std::uint32_t number_of(const Slot& slot) const
    {
        return static_cast<std::uint32_t>(&slot - slots_.data());
    }

    std::shared_ptr<Context> context_;
    Parameters parameters_;
    std::unique_ptr<Resources> resources_; // handed to the queue on destruction
    std::vector<Slot> slots_;
    std::vector<Launch> launches_;
    std::vector<HostLaunch> host_launches_;
    std::vector<Segment> segments_;
    // The lists of the segments: without rare launches; the same with the times of segments; with those rare launches
    // that have been dispatched.
    std::vector<VkCommandBuffer> usual_, measured_, complete_;
    VkCommandBuffer resume_ = VK_NULL_HANDLE; // with slices: precedes the later parts of a call
    std::vector<VkCommandBuffer> lists_;      // scratch space of submit()
    std::vector<Ticket> reads_;
    Address slab_ = 0;
    std::uint64_t slab_bytes_ = 0, slot_bytes_ = 0;
    std::uint32_t launches_timed_ = 0;    // by the first marks
    std::uint32_t current_ = 0, set_ = 0; // set_: number of launches set in this replay
    bool open_ = false;
    bool runs_rare_ = false; // in this replay
    std::size_t per_batch_ = ~std::size_t{0};
    Ticket warmed_up_ = 0; // ticket of the warm-up, which is not a call
    bool times_launches_, droppable_;
    std::uint32_t first_state_ = 0; // the first launch that writes state
    // With slices.
    bool sliced_ = false;
    std::uint32_t calls_ = 0;            // since the last measurement was due
    std::uint64_t measured_groups_ = 0;  // of the last call that was chosen to be measured
    double time_between_ = 0;            // nanoseconds, of two segments
    std::vector<double> gaps_;           // scratch space of measure_segments()
    std::size_t writes_state_from_ = 0;  // the first segment that does
    std::vector<double> time_per_group_; // nanoseconds, by segment; negative: unknown
    std::vector<double> costs_;          // scratch space of submit()
};

} // namespace reprise::device::vulkan
