#include "device/external_handles.hpp"

#include <reprise/error.hpp>

#include "device/vulkan/external.hpp"
#include "device/vulkan/vulkan_device.hpp"

namespace reprise::device {

namespace {

// A range of the application's buffer.  All ranges of a buffer share one location.
class ExternalRange : public Memory {
public:
    ExternalRange(std::shared_ptr<vulkan::Context> context, VkBuffer buffer, std::uint64_t buffer_bytes,
                  std::uint64_t offset, std::uint64_t size)
        : context_(std::move(context))
    {
        const VkBufferDeviceAddressInfo info{.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                             .buffer = buffer};
        const vulkan::LogicalDevice& device = context_->device;
        start_ = device.vk.vkGetBufferDeviceAddress(device.handle(), &info);
        if (start_ % 16 != 0)
            reprise::detail::fail(ErrorKind::argument, "from_buffer", "The buffer's device address (", start_,
                                  ") is no multiple of 16: bind it to an aligned offset of its memory.");
        address = start_ + offset;
        bytes = size;
        external = true;
        context_->memory.add_location(start_, {buffer, 0, buffer_bytes, nullptr, false});
    }
    ~ExternalRange() override { context_->memory.remove_location(start_); }
    ExternalRange(const ExternalRange&) = delete;
    ExternalRange& operator=(const ExternalRange&) = delete;

private:
    std::shared_ptr<vulkan::Context> context_;
    Address start_ = 0; // of the buffer
};

vulkan::VulkanDevice& vulkan_device(Device& d, const char* by)
{
    auto* const device = dynamic_cast<vulkan::VulkanDevice*>(&d);
    if (!device)
        reprise::detail::fail(ErrorKind::unsupported, by, "The device (", d.capabilities().id,
                              ") has no Vulkan buffers: use a Vulkan device.");
    return *device;
}

void submit(Device& d, const char* by, const vulkan::Work& work)
{
    vulkan::VulkanDevice& device = vulkan_device(d, by);
    device.context().device.health.require_alive(by);
    device.context().submit(work);
}

} // namespace

BufferRange buffer_range(Device& d, const char* by, Address address, std::uint64_t bytes, Ticket ticket)
{
    vulkan::Context& context = vulkan_device(d, by).context();
    context.device.health.require_alive(by);
    if (ticket == 0) {
        context.transfers.flush();
        ticket = context.queue.submitted();
    }
    context.queue.hand_over_until(ticket);
    const vulkan::DeviceMemory::Location at = context.memory.locate(address, bytes);
    return {at.buffer, at.offset, context.queue.timeline(), ticket};
}

std::unique_ptr<Memory> memory_in_buffer(const std::shared_ptr<Device>& d, const char* by, void* buffer,
                                         std::uint64_t buffer_bytes, std::uint64_t offset,
                                         std::uint64_t bytes)
{
    vulkan::VulkanDevice& device = vulkan_device(*d, by);
    device.context().device.health.require_alive(by);
    return std::make_unique<ExternalRange>(std::shared_ptr<vulkan::Context>(d, &device.context()),
                                           static_cast<VkBuffer>(buffer), buffer_bytes, offset, bytes);
}

void wait_for_semaphore(Device& d, const char* by, void* semaphore, std::uint64_t value)
{
    submit(d, by, {.wait = {static_cast<VkSemaphore>(semaphore), value}});
}

void signal_semaphore(Device& d, const char* by, void* semaphore, std::uint64_t value)
{
    submit(d, by, {.signal = {static_cast<VkSemaphore>(semaphore), value}});
}

std::shared_ptr<void> external_features(void* instance, void* physical_device)
{
    return std::make_shared<vulkan::FeatureChain>(vulkan::required_features(
        static_cast<VkInstance>(instance), static_cast<VkPhysicalDevice>(physical_device)));
}

const void* external_feature_chain(const std::shared_ptr<void>& features)
{
    return static_cast<vulkan::FeatureChain*>(features.get())->head();
}

std::shared_ptr<Device> open_external(const ExternalHandles& h)
{
    DeviceOptions options;
    options.barrier_per_launch = h.barrier_per_launch;
    return vulkan::open_external({.instance = static_cast<VkInstance>(h.instance),
                                  .physical_device = static_cast<VkPhysicalDevice>(h.physical_device),
                                  .device = static_cast<VkDevice>(h.device),
                                  .queue = static_cast<VkQueue>(h.queue),
                                  .queue_family = h.queue_family,
                                  .enabled = static_cast<const vulkan::FeatureChain*>(h.enabled),
                                  .lock_queue = h.lock_queue,
                                  .unlock_queue = h.unlock_queue},
                                 options);
}

} // namespace reprise::device
