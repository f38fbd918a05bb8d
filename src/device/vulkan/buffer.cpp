#include "device/vulkan/buffer.hpp"

namespace reprise::device::vulkan {

namespace {

constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags coherent =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

std::uint32_t choose_type(const LogicalDevice& device, std::uint32_t bits, MemoryUse use)
{
    switch (use) {
    case MemoryUse::device:
        return device.unified() ? device.memory_type(bits, local, coherent | cached, 0)
                                : device.memory_type(bits, local, 0, coherent | cached);
    case MemoryUse::upload: return device.memory_type(bits, coherent, 0, local | cached);
    case MemoryUse::parameters: return device.memory_type(bits, coherent, local, 0);
    case MemoryUse::readback: return device.memory_type(bits, coherent, cached, local);
    }
    return 0;
}

} // namespace

Buffer::Buffer(const LogicalDevice& device, std::uint64_t bytes, MemoryUse use, const std::string& name)
    : device_(device), bytes_(bytes)
{
    const auto& vk = device_.vk;
    const VkBufferCreateInfo info{
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = bytes_,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
                 VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    handle_.create("allocate", "vkCreateBuffer", &VolkDeviceTable::vkCreateBuffer, info);
    VkMemoryRequirements needs{};
    vk.vkGetBufferMemoryRequirements(device_.handle(), handle(), &needs);

    memory_type_ = choose_type(device_, needs.memoryTypeBits, use);
    flags_ = device_.memory_flags(memory_type_);
    const VkMemoryAllocateFlagsInfo flags{.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                          .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateInfo allocation{.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                          .pNext = &flags,
                                          .allocationSize = needs.size,
                                          .memoryTypeIndex = memory_type_};
    memory_.create("allocate", "vkAllocateMemory", &VolkDeviceTable::vkAllocateMemory, allocation);
    device_.check("allocate", "vkBindBufferMemory",
                  [&] { return vk.vkBindBufferMemory(device_.handle(), handle(), memory_.get(), 0); });
    if ((flags_ & coherent) == coherent && (use != MemoryUse::device || device_.unified())) {
        void* mapped = nullptr;
        device_.check("allocate", "vkMapMemory", [&] {
            return vk.vkMapMemory(device_.handle(), memory_.get(), 0, VK_WHOLE_SIZE, 0, &mapped);
        });
        host_ = static_cast<std::byte*>(mapped);
    }
    const VkBufferDeviceAddressInfo query{.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                          .buffer = handle()};
    address_ = vk.vkGetBufferDeviceAddress(device_.handle(), &query);
    device_.name(VK_OBJECT_TYPE_BUFFER, handle(), name);
    device_.name(VK_OBJECT_TYPE_DEVICE_MEMORY, memory_.get(), name);
}

SlicePool::Source buffers(const LogicalDevice& device, MemoryUse use, std::string name)
{
    return [&device, use, name = std::move(name)](std::uint64_t bytes) {
        auto buffer = std::make_shared<Buffer>(device, bytes, use, name);
        return SlicePool::Chunk{buffer->address(), buffer->host(),
                                std::bit_cast<std::uint64_t>(buffer->handle()), buffer};
    };
}

} // namespace reprise::device::vulkan
