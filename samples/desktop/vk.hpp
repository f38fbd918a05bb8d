// Owners of Vulkan's objects.
#pragma once
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <vulkan/vulkan.h>

namespace desktop {

// Throws std::runtime_error for an error.
inline void check(VkResult result, const char* call)
{
    if (result < 0)
        throw std::runtime_error(std::string(call) + " failed (VkResult " + std::to_string(result) + ").");
}

// Owns an object of a VkDevice.
template <class Handle, auto destroy> class Owned {
public:
    Owned() = default;
    Owned(VkDevice device, Handle handle) : device_(device), handle_(handle) {}
    Owned(Owned&& other) noexcept : device_(other.device_), handle_(std::exchange(other.handle_, {})) {}
    Owned& operator=(Owned&& other) noexcept
    {
        std::swap(device_, other.device_);
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Owned()
    {
        if (handle_) destroy(device_, handle_, nullptr);
    }
    operator Handle() const { return handle_; } // NOLINT(google-explicit-constructor)
    const Handle* address() const { return &handle_; }

private:
    VkDevice device_ = nullptr;
    Handle handle_{};
};

using Buffer = Owned<VkBuffer, vkDestroyBuffer>;
using CommandPool = Owned<VkCommandPool, vkDestroyCommandPool>;
using DescriptorPool = Owned<VkDescriptorPool, vkDestroyDescriptorPool>;
using Fence = Owned<VkFence, vkDestroyFence>;
using Framebuffer = Owned<VkFramebuffer, vkDestroyFramebuffer>;
using Image = Owned<VkImage, vkDestroyImage>;
using ImageView = Owned<VkImageView, vkDestroyImageView>;
using Memory = Owned<VkDeviceMemory, vkFreeMemory>;
using QueryPool = Owned<VkQueryPool, vkDestroyQueryPool>;
using RenderPass = Owned<VkRenderPass, vkDestroyRenderPass>;
using Semaphore = Owned<VkSemaphore, vkDestroySemaphore>;
using SwapchainHandle = Owned<VkSwapchainKHR, vkDestroySwapchainKHR>;

// A create function of Vulkan as one that returns the owner.
template <class Owner, class Create, class Info>
Owner created(const char* call, Create create, VkDevice device, const Info& info)
{
    std::remove_cvref_t<decltype(*std::declval<Owner>().address())> handle{};
    check(create(device, &info, nullptr, &handle), call);
    return Owner(device, handle);
}

} // namespace desktop
