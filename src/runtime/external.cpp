// The public door for an application's own Vulkan device.
#include <reprise/vulkan.hpp>

#include <reprise/error.hpp>

#include "device/external_handles.hpp"
#include "eager/context.hpp"
#include "runtime/lent_device.hpp"

namespace reprise::vulkan {

RequiredFeatures::RequiredFeatures(void* instance, void* physical_device)
{
    if (!instance || !physical_device)
        detail::fail(ErrorKind::argument, "vulkan",
                     "The instance or the physical device is null: give live handles.");
    implementation_ = device::external_features(instance, physical_device);
}

const void* RequiredFeatures::chain() const { return device::external_feature_chain(implementation_); }

Device make_device(const Handles& h)
{
    if (!h.instance || !h.physical_device || !h.device || !h.queue)
        detail::fail(ErrorKind::argument, "vulkan",
                     "A handle is null: give the instance, physical device, device and queue.");
    const auto device =
        device::open_external({.instance = h.instance,
                               .physical_device = h.physical_device,
                               .device = h.device,
                               .queue = h.queue,
                               .queue_family = h.queue_family,
                               .enabled = h.enabled ? h.enabled->implementation().get() : nullptr,
                               .lock_queue = h.lock_queue,
                               .unlock_queue = h.unlock_queue});
    runtime::leave_at_the_end(device);
    return Device(std::make_shared<eager::Context>(device));
}

} // namespace reprise::vulkan
