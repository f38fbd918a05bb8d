// A recording that is submitted once: what eager evaluation makes.  Its command buffers are recorded at
// submit(), when the groups are known, with direct dispatches; launches without groups are left out.
// Kernels read the records where the host wrote them, or from a copy where the host does not see the
// device's memory.
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
    Ticket submit() override; // a second time throws Error(state)
    Times times() override;

private:
    struct Resources : Retired {
        CommandArenas::Lease arena;
        Slice records;
        Slice copy; // of the records, where kernels do not read the host's
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
    Ticket ticket_ = 0;
    std::uint32_t set_ = 0;
};

} // namespace reprise::device::vulkan
