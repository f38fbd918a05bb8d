// The first block of device memory, and the only descriptor set of all kernels, which describes it: binding 0 is a
// texel view (RGBA32F), binding 1 sixteen storage-buffer windows of 128 MiB.  It is bound once per command buffer and
// never changed.
#pragma once
#include "device/vulkan/buffer.hpp"
#include "device/vulkan/capabilities.hpp"

namespace reprise::device::vulkan {

class Slab {
public:
    Slab(const LogicalDevice&, std::uint64_t bytes); // halves the size until the allocation succeeds
    Slab(const Slab&) = delete;
    Slab& operator=(const Slab&) = delete;

    const Buffer& buffer() const noexcept { return *buffer_; }
    bool has_windows() const noexcept { return windows_; }
    bool has_texel_view() const noexcept { return texels_; } // it covers the whole slab
    VkPipelineLayout pipeline_layout() const noexcept { return pipeline_layout_.get(); }
    void bind(VkCommandBuffer) const;

    // The default size for a device.
    static std::uint64_t default_bytes(const PhysicalDevice&);

private:
    void create_layouts();
    void write_set();

    const LogicalDevice& device_;
    std::unique_ptr<Buffer> buffer_;
    bool windows_, texels_ = false;
    Owned<VkBufferView, &VolkDeviceTable::vkDestroyBufferView> view_{device_};
    Owned<VkDescriptorSetLayout, &VolkDeviceTable::vkDestroyDescriptorSetLayout> set_layout_{device_};
    Owned<VkPipelineLayout, &VolkDeviceTable::vkDestroyPipelineLayout> pipeline_layout_{device_};
    Owned<VkDescriptorPool, &VolkDeviceTable::vkDestroyDescriptorPool> pool_{device_};
    VkDescriptorSet set_ = VK_NULL_HANDLE; // freed with the pool
};

} // namespace reprise::device::vulkan
