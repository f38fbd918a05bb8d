// A recording that is submitted once, for eager evaluation.  submit() records its command buffers, when the numbers of
// groups are known: dispatches are direct, and launches without groups are left out.  Kernels read the records from the
// memory that the host wrote, or from a copy if the host can't write device-local memory.
#pragma once
#include "device/vulkan/context.hpp"
#include "device/vulkan/parameters.hpp"
#include "device/vulkan/timestamps.hpp"

namespace reprise::device::vulkan {

class OneShot : public Recording {
public:
    OneShot(std::shared_ptr<Context>, std::span<const LaunchDeclaration>, const RecordingOptions&);
    ~OneShot() override;
    OneShot(const OneShot&) = delete;
    OneShot& operator=(const OneShot&) = delete;

    void begin() override;
    void set(std::uint32_t launch, const LaunchArguments&) override;
    Ticket submit() override; // a second call throws Error(state)
    void depends_on(Ticket ticket) override { reads_.push_back(ticket); }
    Times times() override;

private:
    struct Resources : Retired {
        CommandArenas::Lease arena;
        Slice records;
        Slice copy; // copy of the records, if kernels can't read the host's
        std::unique_ptr<Timestamps> timestamps;
    };
    struct Launch {
        VkPipeline pipeline;
        std::uint32_t epoch;
        Grid grid;
    };

    void record();
    void record_launches(VkCommandBuffer, std::size_t first, std::size_t last) const;

    std::shared_ptr<Context> context_;
    Parameters parameters_;
    std::unique_ptr<Resources> resources_;
    std::vector<Launch> launches_;
    std::vector<VkCommandBuffer> lists_;
    std::vector<Ticket> reads_;
    Ticket ticket_ = 0;
    std::uint32_t set_ = 0;
};

} // namespace reprise::device::vulkan
