#include "device/vulkan/context.hpp"

namespace reprise::device::vulkan {

namespace {

std::uint64_t slab_bytes(const PhysicalDevice& physical, const DeviceOptions& options)
{
    return options.slab_bytes != 0 ? options.slab_bytes : Slab::default_bytes(physical);
}

std::uint64_t default_limit(const PhysicalDevice& physical)
{
    return capabilities_of(physical, "").memory_limit;
}

bool host_sees_local_memory(const LogicalDevice& device)
{
    const VkMemoryPropertyFlags needed = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
                                         VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                         VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    for (std::uint32_t i = 0; i < device.physical().memory.memoryTypeCount; ++i) {
        if ((device.memory_flags(i) & needed) == needed) {
            return !device.imitates_discrete();
        }
    }
    return false;
}

} // namespace

Context::Context(std::shared_ptr<Instance> instance, const PhysicalDevice& physical,
                 const DeviceOptions& options, const ExternalVulkan* external)
    : device(std::move(instance), physical, options, external), queue(device, external),
      slab(device, slab_bytes(physical, options)),
      staging(buffers(device, MemoryUse::upload, "reprise staging"), 8 * mebi),
      parameters(buffers(device, MemoryUse::parameters, "reprise parameters"), 1 * mebi),
      blocks(buffers(device, MemoryUse::device, "reprise blocks"), 1 * mebi),
      readback(buffers(device, MemoryUse::readback, "reprise readback"), 1 * mebi), arenas(device),
      pipelines(device, slab), memory(device, slab, default_limit(physical), [this] { drain(); }),
      transfers(device, queue, memory, arenas, staging, readback),
      direct_parameters(host_sees_local_memory(device)), barrier_per_launch_(options.barrier_per_launch)
{}

// Retired objects return memory to pools and arenas, which are destroyed before the queue.
Context::~Context() { queue.collect_all(); }

Ticket Context::submit(const Work& work)
{
    Ticket ticket = 0;
    {
        const auto lock = queue.lock();
        lists_.clear();
        transfers.take(lists_);
        // Uploads are never dropped, and host calls count the lists from the call's first one.
        if ((queue.has_slices() || !work.host_calls.empty()) && !lists_.empty()) {
            transfers.submitted(queue.submit({.lists = lists_, .cost_of_each = 0}));
            lists_.clear();
        }
        lists_.insert(lists_.end(), work.lists.begin(), work.lists.end());
        Work all = work;
        all.lists = lists_;
        ticket = queue.submit(all);
        transfers.submitted(ticket);
    }
    queue.collect();
    return ticket;
}

void Context::close()
{
    if (!device.health.lost()) {
        drain();
    }
    queue.collect_all();
    device.close();
}

void Context::abandon() noexcept
{
    if (device.owned()) {
        queue.finish();
    }
    device.abandon();
    if (device.owned()) {
        queue.collect_all(); // calls no function of the driver any more
    }
}

void Context::drain()
{
    transfers.flush();
    queue.wait(queue.submitted());
    queue.collect();
}

} // namespace reprise::device::vulkan
