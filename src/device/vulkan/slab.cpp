#include "device/vulkan/slab.hpp"
#include "device/vulkan/workarounds.hpp"
#include <algorithm>
#include <array>
#include <reprise/error.hpp>

namespace reprise::device::vulkan {

namespace {

constexpr std::uint64_t smallest_slab = 16 * mebi;
constexpr std::uint64_t texel_bytes = 16;

std::unique_ptr<Buffer> make_buffer(const LogicalDevice& device, std::uint64_t bytes)
{
    for (;; bytes /= 2) {
        try {
            return std::make_unique<Buffer>(device, bytes, MemoryUse::device, "reprise slab");
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::out_of_memory || bytes / 2 < smallest_slab) {
                throw;
            }
        }
    }
}

} // namespace

std::uint64_t Slab::default_bytes(const PhysicalDevice& d)
{
    const std::uint64_t max_bytes = std::min<std::uint64_t>(d.heap_bytes(), d.v11.maxMemoryAllocationSize);
    std::uint64_t bytes = 256 * mebi; // more blocks are added on demand
    if (has_quirk(d, Quirk::writes_what_it_allocates)) {
        bytes = 128 * mebi;
    } else if (d.is_cpu()) {
        bytes = 2048 * mebi; // pages cost nothing until they are touched
    }
    bytes = std::min(bytes, max_bytes);
    return bytes >= window_bytes ? bytes / window_bytes * window_bytes : bytes / mebi * mebi;
}

Slab::Slab(const LogicalDevice& device, std::uint64_t bytes)
    : device_(device), buffer_(make_buffer(device, bytes)), windows_(windows_allowed(device.physical()))
{
    const std::uint64_t max_bytes = texel_bytes * device_.physical().properties.limits.maxTexelBufferElements;
    texels_ = buffer_->bytes() <= max_bytes;
    const VkBufferViewCreateInfo view{.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
                                      .buffer = buffer_->handle(),
                                      .format = VK_FORMAT_R32G32B32A32_SFLOAT,
                                      .range = std::min(buffer_->bytes(), max_bytes)};
    view_.create("allocate", "vkCreateBufferView", &VolkDeviceTable::vkCreateBufferView, view);
    create_layouts();
    write_set();
}

void Slab::create_layouts()
{
    std::array<VkDescriptorSetLayoutBinding, 2> bindings{};
    bindings[0] = {0, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    bindings[1] = {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, window_count, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    const VkDescriptorSetLayoutCreateInfo set{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                              .bindingCount = windows_ ? 2u : 1u,
                                              .pBindings = bindings.data()};
    set_layout_.create("allocate", "vkCreateDescriptorSetLayout",
                       &VolkDeviceTable::vkCreateDescriptorSetLayout, set);
    const VkPushConstantRange push{VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(Address)};
    const VkPipelineLayoutCreateInfo layout{.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                            .setLayoutCount = 1,
                                            .pSetLayouts = &set_layout_.get(),
                                            .pushConstantRangeCount = 1,
                                            .pPushConstantRanges = &push};
    pipeline_layout_.create("allocate", "vkCreatePipelineLayout", &VolkDeviceTable::vkCreatePipelineLayout,
                            layout);
}

void Slab::write_set()
{
    const auto& vk = device_.vk;
    const std::array<VkDescriptorPoolSize, 2> sizes{
        {{VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, 1}, {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, window_count}}};
    const VkDescriptorPoolCreateInfo pool{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                          .maxSets = 1,
                                          .poolSizeCount = windows_ ? 2u : 1u,
                                          .pPoolSizes = sizes.data()};
    pool_.create("allocate", "vkCreateDescriptorPool", &VolkDeviceTable::vkCreateDescriptorPool, pool);
    const VkDescriptorSetAllocateInfo allocation{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                                 .descriptorPool = pool_.get(),
                                                 .descriptorSetCount = 1,
                                                 .pSetLayouts = &set_layout_.get()};
    device_.check("allocate", "vkAllocateDescriptorSets",
                  [&] { return vk.vkAllocateDescriptorSets(device_.handle(), &allocation, &set_); });

    std::array<VkDescriptorBufferInfo, window_count> windows{};
    for (std::uint32_t i = 0; i < window_count; ++i) { // windows beyond the slab repeat window 0
        const std::uint64_t offset = i * window_bytes < buffer_->bytes() ? i * window_bytes : 0;
        windows[i] = {buffer_->handle(), offset, std::min(window_bytes, buffer_->bytes() - offset)};
    }
    std::array<VkWriteDescriptorSet, 2> writes{};
    for (std::uint32_t i = 0; i < 2; ++i) {
        writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
        writes[i].dstSet = set_;
        writes[i].dstBinding = i;
    }
    writes[0].descriptorCount = 1;
    writes[0].descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER;
    writes[0].pTexelBufferView = &view_.get();
    writes[1].descriptorCount = window_count;
    writes[1].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    writes[1].pBufferInfo = windows.data();
    vk.vkUpdateDescriptorSets(device_.handle(), windows_ ? 2 : 1, writes.data(), 0, nullptr);
}

void Slab::bind(VkCommandBuffer list) const
{
    device_.vk.vkCmdBindDescriptorSets(list, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_layout_.get(), 0, 1,
                                       &set_, 0, nullptr);
}

} // namespace reprise::device::vulkan
