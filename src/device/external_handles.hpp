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
    bool barrier_per_launch = false;
};

std::shared_ptr<void> external_features(void* instance, void* physical_device);
const void* external_feature_chain(const std::shared_ptr<void>&);
std::shared_ptr<Device> open_external(const ExternalHandles&);

// The following throw Error(unsupported), with `by` as the function's name, unless it is a Vulkan device.
struct BufferRange {
    void* buffer = nullptr; // a VkBuffer
    std::uint64_t offset = 0;
    void* timeline = nullptr; // a VkSemaphore, whose values are tickets
    Ticket written = 0;
};
// Hands over the work that is queued up to the ticket; 0: all work, also uploads.
BufferRange buffer_range(Device&, const char* by, Address, std::uint64_t bytes, Ticket);
// Memory that is a range of the application's VkBuffer.
std::unique_ptr<Memory> memory_in_buffer(const std::shared_ptr<Device>&, const char* by, void* buffer,
                                         std::uint64_t buffer_bytes, std::uint64_t offset,
                                         std::uint64_t bytes);
// All later submissions wait for the timeline VkSemaphore; it is signalled after all earlier ones.
void wait_for_semaphore(Device&, const char* by, void* semaphore, std::uint64_t value);
void signal_semaphore(Device&, const char* by, void* semaphore, std::uint64_t value);

} // namespace reprise::device
