// A VkBuffer with its own memory, a device address and, if the memory is visible to the host, a mapping.
#pragma once
#include "device/slice_pool.hpp"
#include "device/vulkan/logical_device.hpp"
#include <bit>

namespace reprise::device::vulkan {

constexpr std::uint64_t mebi = std::uint64_t{1} << 20; // bytes

enum class MemoryUse : std::uint8_t {
    device,     // accessed by kernels; mapped on unified devices
    upload,     // written by the host, source of copies
    parameters, // written by the host, read by kernels: device-local if there is such a memory type
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
    std::uint32_t memory_type() const noexcept { return memory_type_; }
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
    std::uint32_t memory_type_ = 0;
};

// Creates buffers as the chunks of a pool; buffer_of() is the buffer that contains a slice.
SlicePool::Source buffers(const LogicalDevice&, MemoryUse, std::string name);
inline VkBuffer buffer_of(const Slice& s) { return std::bit_cast<VkBuffer>(s.chunk()); }

} // namespace reprise::device::vulkan
