// A VkDevice with its functions, its queue and its checker.  All other parts use the driver through it.
#pragma once
#include "device/vulkan/error.hpp"
#include "device/vulkan/external.hpp"
#include "device/vulkan/physical_device.hpp"
#include <atomic>
#include <functional>
#include <list>
#include <mutex>

namespace reprise::device::vulkan {

class LogicalDevice {
public:
    // `external`: the application's device, which is not destroyed, or null.
    LogicalDevice(std::shared_ptr<Instance>, const PhysicalDevice&, const DeviceOptions&,
                  const ExternalVulkan* external);
    ~LogicalDevice();
    LogicalDevice(const LogicalDevice&) = delete;
    LogicalDevice& operator=(const LogicalDevice&) = delete;

    VkDevice handle() const noexcept { return handle_; }
    VkQueue queue() const noexcept { return queue_; }
    std::uint32_t queue_family() const noexcept { return queue_family_; }
    const PhysicalDevice& physical() const noexcept { return physical_; }
    // True if the host can read and write buffers in device memory at full speed.
    bool unified() const noexcept { return physical_.is_unified() && !imitate_discrete_; }
    bool imitates_discrete() const noexcept { return imitate_discrete_; }
    // Requires PhysicalDevice::memory_budget: what is left of the driver's estimate for this process, in the heap of
    // the memory type.
    std::uint64_t available_bytes(std::uint32_t memory_type) const;

    // Returns a memory type among `bits` that has all `required` flags and maximizes the number of `wanted` flags minus
    // the number of `unwanted` flags.  Throws Error(unsupported) if there is none.
    std::uint32_t memory_type(std::uint32_t bits, VkMemoryPropertyFlags required,
                              VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags unwanted) const;
    VkMemoryPropertyFlags memory_flags(std::uint32_t type) const
    {
        return physical_.memory.memoryTypes[type].propertyFlags;
    }

    // Sets the object's name for debuggers; does nothing if VK_EXT_debug_utils is absent.
    template <class Handle> void name(VkObjectType type, Handle object, const std::string& text) const
    {
        set_name(type, (std::uint64_t)object, text); // an integer or a pointer, by platform
    }

    bool owned() const noexcept { return owned_; } // false: the application owns it
    // Destroys all objects of the device, and the device if it is owned.  No later call reaches the driver.
    void close() noexcept;
    // Marks the device as lost and leaves its objects undestroyed.  No later call reaches the driver.
    void abandon() noexcept;

    VolkDeviceTable vk{};
    mutable std::atomic<std::int64_t> objects = 0; // see CountedObject
    mutable Health health;
    const Checker check{health};

private:
    void set_name(VkObjectType, std::uint64_t object, const std::string&) const;

    void create();
    void silence() noexcept;

    friend class OnClose;
    mutable std::mutex on_close_mutex_;
    mutable std::list<const std::function<void()>*> on_close_; // oldest first
    std::shared_ptr<Instance> instance_;
    PhysicalDevice physical_;
    VkDevice handle_ = VK_NULL_HANDLE;
    VkQueue queue_ = VK_NULL_HANDLE;
    std::uint32_t queue_family_;
    bool owned_, imitate_discrete_;
};

// A member of a class that owns driver objects: destroys them if the device is closed before their owner is destroyed.
class OnClose {
public:
    OnClose(const LogicalDevice&, std::function<void()> destroy);
    ~OnClose();
    OnClose(const OnClose&) = delete;
    OnClose& operator=(const OnClose&) = delete;

private:
    const LogicalDevice& device_;
    const std::function<void()> destroy_;
    std::list<const std::function<void()>*>::iterator position_;
};

// A driver object: destroyed with its owner, or earlier if the device is closed.
template <class Handle,
          void (VKAPI_PTR* VolkDeviceTable::*destroy)(VkDevice, Handle, const VkAllocationCallbacks*)>
class Owned {
public:
    explicit Owned(const LogicalDevice& device) : device_(device) {}
    ~Owned() { end(); }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;

    // `kind` and `name` are those of Checker, `make` is the driver function called `name`.
    template <class Info>
    void create(const char* kind, const char* name,
                VkResult (VKAPI_PTR* VolkDeviceTable::*make)(VkDevice, const Info*,
                                                             const VkAllocationCallbacks*, Handle*),
                const Info& info)
    {
        device_.check(kind, name,
                      [&] { return (device_.vk.*make)(device_.handle(), &info, nullptr, &handle_); });
    }
    const Handle& get() const noexcept { return handle_; }

private:
    void end() noexcept { (device_.vk.*destroy)(device_.handle(), handle_, nullptr); }

    const LogicalDevice& device_;
    Handle handle_ = VK_NULL_HANDLE;
    OnClose on_close_{device_, [this] { end(); }};
};

// A member of a class that owns a driver object: counts the object in LogicalDevice::objects while it lives.
class CountedObject {
public:
    explicit CountedObject(const LogicalDevice& device) : device_(device) { ++device_.objects; }
    ~CountedObject() { --device_.objects; }
    CountedObject(const CountedObject&) = delete;
    CountedObject& operator=(const CountedObject&) = delete;

private:
    const LogicalDevice& device_;
};

} // namespace reprise::device::vulkan
