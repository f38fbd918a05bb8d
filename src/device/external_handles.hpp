// Opens a device on an application's own Vulkan objects; this interface does not depend on Vulkan's headers.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include "device/device.hpp"

namespace reprise::device {

struct ExternalHandles {
    void* instance = nullptr;
    void* physical_device = nullptr;
    void* device = nullptr;
    void* queue = nullptr;
    std::uint32_t queue_family = 0;
    const void* enabled = nullptr; // points to external_features(), or null
    std::function<void()> lock_queue, unlock_queue;
};

std::shared_ptr<void> external_features(void* instance, void* physical_device);
const void* external_feature_chain(const std::shared_ptr<void>&);
std::shared_ptr<Device> open_external(const ExternalHandles&);

} // namespace reprise::device
