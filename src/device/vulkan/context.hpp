// The parts of an open Vulkan device; each depends only on those before it.
#pragma once
#include "device/vulkan/pipeline_cache.hpp"
#include "device/vulkan/transfers.hpp"

namespace reprise::device::vulkan {

struct Context {
    // `external`: the application's device, or null.
    Context(std::shared_ptr<Instance>, const PhysicalDevice&, const DeviceOptions&,
            const ExternalVulkan* external);
    ~Context();

    // Submits a call's command buffers after all pending uploads, with no other submission in between.
    Ticket submit(const Work&);
    void drain(); // submits what is pending and waits for all submissions
    // The epoch of the launch at a position; with DeviceOptions::barrier_per_launch each launch has its own.
    std::uint32_t epoch_of(const LaunchDeclaration& launch, std::size_t position) const
    {
        return barrier_per_launch_ ? static_cast<std::uint32_t>(position) : launch.epoch;
    }
    void close();
    void abandon() noexcept;

    LogicalDevice device;
    Queue queue;
    Slab slab;
    SlicePool staging, parameters, blocks, readback;
    CommandArenas arenas;
    PipelineCache pipelines;
    DeviceMemory memory;
    Transfers transfers;
    // True if kernels can read the host's records directly; otherwise the records are copied into a block first.
    bool direct_parameters;
    std::atomic<std::uint64_t> replays = 0;

private:
    bool barrier_per_launch_;
    std::vector<VkCommandBuffer> lists_; // scratch space of submit(), under the queue's lock
};

} // namespace reprise::device::vulkan
