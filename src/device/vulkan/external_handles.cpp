#include "device/external_handles.hpp"

#include "device/vulkan/external.hpp"

namespace reprise::device {

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
    return vulkan::open_external({.instance = static_cast<VkInstance>(h.instance),
                                  .physical_device = static_cast<VkPhysicalDevice>(h.physical_device),
                                  .device = static_cast<VkDevice>(h.device),
                                  .queue = static_cast<VkQueue>(h.queue),
                                  .queue_family = h.queue_family,
                                  .enabled = static_cast<const vulkan::FeatureChain*>(h.enabled),
                                  .lock_queue = h.lock_queue,
                                  .unlock_queue = h.unlock_queue});
}

} // namespace reprise::device
