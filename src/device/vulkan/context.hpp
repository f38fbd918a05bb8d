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
    std::vector<VkCommandBuffer> lists_; // scratch space of submit(), under the queue's lock
};

} // namespace reprise::device::vulkan
