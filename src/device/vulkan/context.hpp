// The parts of an open Vulkan device, in the order in which they rest on each other.
#pragma once
#include "device/vulkan/pipeline_cache.hpp"
#include "device/vulkan/transfers.hpp"

namespace reprise::device::vulkan {

struct Context {
    // `external`: null, or the application's device.
    Context(std::shared_ptr<Instance>, const PhysicalDevice&, const DeviceOptions&,
            const ExternalVulkan* external);
    ~Context();

    // A call's lists, behind the uploads that wait, with nothing of others between.
    Ticket submit(std::span<const VkCommandBuffer> lists, std::size_t per_batch = ~std::size_t{0});
    void drain(); // submits what is pending and waits for all
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
    // Kernels may read the host's records where they are; without this they are copied into a block first.
    bool direct_parameters;
    std::atomic<std::uint64_t> replays = 0;

private:
    std::vector<VkCommandBuffer> lists_; // scratch of submit(), under the queue's lock
};

} // namespace reprise::device::vulkan
