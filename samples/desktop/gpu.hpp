// The application's own Vulkan objects: an instance, a device that can draw to windows and train, and its queue.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <reprise/vulkan.hpp>

#include "vk.hpp"

namespace desktop {

// Memory that the host writes or reads, with a buffer on it.
struct HostBuffer {
    Memory memory; // destroyed after the buffer
    Buffer buffer;
    std::byte* data = nullptr; // its bytes, while it exists
};

class Gpu {
public:
    // Takes the instance extensions that windows need, and a part of the device's name, or nothing for the best device.
    // Throws std::runtime_error where no device can both draw and train.
    Gpu(const std::vector<const char*>& extensions, const std::string& name);

    VkInstance instance() const { return instance_.get(); }
    VkPhysicalDevice physical() const { return physical_; }
    VkDevice device() const { return device_.get(); }
    VkQueue queue() const { return queue_; }
    std::uint32_t family() const { return family_; }
    const std::string& name() const { return name_; }
    // Nanoseconds of a unit of the queue's timestamps; 0 where it has none.
    double timestamp_period() const { return timestamp_period_; }

    // A device for training on the same VkDevice and queue (vulkan::Handles).  This object must outlive it.
    reprise::Device training_device(bool barrier_per_launch) const;

    // The device is the host's CPU, on which the library computes a part of its calls by threads of the host.
    bool is_cpu() const { return is_cpu_; }

    // The library, the window and Dear ImGui share the queue: each holds the lock while it submits.
    [[nodiscard]] std::unique_lock<std::mutex> lock_queue() const { return std::unique_lock(queue_mutex_); }
    void submit(const VkSubmitInfo&, VkFence) const;
    VkResult present(const VkPresentInfoKHR&) const;
    void wait_idle() const;

    Memory allocate(const VkMemoryRequirements&, VkMemoryPropertyFlags) const;
    HostBuffer host_buffer(VkDeviceSize bytes, VkBufferUsageFlags) const;

private:
    struct Destroy {
        void operator()(VkInstance instance) const { vkDestroyInstance(instance, nullptr); }
        void operator()(VkDevice device) const { vkDestroyDevice(device, nullptr); }
    };
    template <class Handle> using Root = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy>;

    bool choose(VkPhysicalDevice);
    void make_device();

    Root<VkInstance> instance_;
    VkPhysicalDevice physical_ = nullptr;
    std::uint32_t family_ = 0;
    std::string name_;
    double timestamp_period_ = 0;
    bool is_cpu_ = false;
    std::optional<reprise::vulkan::RequiredFeatures> features_;
    Root<VkDevice> device_;
    VkQueue queue_ = nullptr;
    mutable std::mutex queue_mutex_;
};

} // namespace desktop
