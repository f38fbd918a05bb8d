// A VkBuffer with memory of its own, a device address and, where the host sees it, a mapping.
#pragma once
#include "device/slice_pool.hpp"
#include "device/vulkan/logical_device.hpp"
#include <bit>

namespace reprise::device::vulkan {

constexpr std::uint64_t mebi = std::uint64_t{1} << 20; // bytes

enum class MemoryUse : std::uint8_t {
    device,     // kernels'; mapped where the device is unified
    upload,     // written by the host, copied from
    parameters, // written by the host, read by kernels: device-local if there is such a type
    readback,   // written by the device, read by the host
};

class Buffer {
public:
    Buffer(const LogicalDevice&, std::uint64_t bytes, MemoryUse, const std::string& name);
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    VkBuffer handle() const noexcept { return handle_.get(); }
    Address address() const noexcept { return address_; }
    std::uint64_t bytes() const noexcept { return bytes_; }
    std::byte* host() const noexcept { return host_; } // null: not mapped
    VkMemoryPropertyFlags flags() const noexcept { return flags_; }

private:
    const LogicalDevice& device_;
    CountedObject counted_{device_};
    std::uint64_t bytes_;
    Owned<VkDeviceMemory, &VolkDeviceTable::vkFreeMemory> memory_{device_};
    Owned<VkBuffer, &VolkDeviceTable::vkDestroyBuffer> handle_{device_};
    Address address_ = 0;
    std::byte* host_ = nullptr;
    VkMemoryPropertyFlags flags_ = 0;
};

// Buffers as the chunks of a pool, and the one that a slice of it lies in.
SlicePool::Source buffers(const LogicalDevice&, MemoryUse, std::string name);
inline VkBuffer buffer_of(const Slice& s) { return std::bit_cast<VkBuffer>(s.chunk()); }

} // namespace reprise::device::vulkan
