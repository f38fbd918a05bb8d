#include "gpu.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "glfw.hpp"

namespace desktop {

namespace {

VkPhysicalDeviceProperties properties_of(VkPhysicalDevice device)
{
    VkPhysicalDeviceProperties properties{};
    vkGetPhysicalDeviceProperties(device, &properties);
    return properties;
}

std::vector<VkQueueFamilyProperties> families_of(VkPhysicalDevice device)
{
    std::uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
    return families;
}

bool has_swapchains(VkPhysicalDevice device)
{
    std::uint32_t count = 0;
    check(vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr),
          "vkEnumerateDeviceExtensions");
    std::vector<VkExtensionProperties> all(count);
    check(vkEnumerateDeviceExtensionProperties(device, nullptr, &count, all.data()),
          "vkEnumerateDeviceExtensions");
    return std::any_of(all.begin(), all.end(), [](const VkExtensionProperties& e) {
        return std::strcmp(e.extensionName, VK_KHR_SWAPCHAIN_EXTENSION_NAME) == 0;
    });
}

int rank(VkPhysicalDevice device) // the smallest one is the best
{
    constexpr std::array order{VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
                               VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU, VK_PHYSICAL_DEVICE_TYPE_CPU};
    const auto type = properties_of(device).deviceType;
    return static_cast<int>(std::find(order.begin(), order.end(), type) - order.begin());
}

} // namespace

Gpu::Gpu(const std::vector<const char*>& extensions, const std::string& name)
{
    VkApplicationInfo application{.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo info{.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    info.pApplicationInfo = &application;
    info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    VkInstance instance = nullptr;
    check(vkCreateInstance(&info, nullptr, &instance), "vkCreateInstance");
    instance_.reset(instance);

    std::uint32_t count = 0;
    check(vkEnumeratePhysicalDevices(instance, &count, nullptr), "vkEnumeratePhysicalDevices");
    std::vector<VkPhysicalDevice> devices(count);
    check(vkEnumeratePhysicalDevices(instance, &count, devices.data()), "vkEnumeratePhysicalDevices");
    std::stable_sort(devices.begin(), devices.end(),
                     [](VkPhysicalDevice a, VkPhysicalDevice b) { return rank(a) < rank(b); });
    std::string seen;
    for (const VkPhysicalDevice device : devices) {
        const std::string its_name = properties_of(device).deviceName;
        seen += (seen.empty() ? "" : ", ") + its_name;
        if (its_name.find(name) != std::string::npos && choose(device)) break;
    }
    if (!physical_)
        throw std::runtime_error(
            "No Vulkan device " + (name.empty() ? "" : "with \"" + name + "\" in its name ") +
            "can both draw to a window and train (devices: " + (seen.empty() ? "none" : seen) + ").");
    make_device();
}

bool Gpu::choose(VkPhysicalDevice device)
{
    if (!has_swapchains(device)) return false;
    try {
        features_.emplace(instance(), device);
    } catch (const reprise::Error&) {
        return false; // it lacks a feature that the library needs
    }
    const auto families = families_of(device);
    for (std::uint32_t i = 0; i < families.size(); ++i) {
        constexpr VkQueueFlags both = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
        if ((families[i].queueFlags & both) != both) continue;
        if (!glfwGetPhysicalDevicePresentationSupport(instance(), device, i)) continue;
        physical_ = device;
        family_ = i;
        const VkPhysicalDeviceProperties properties = properties_of(device);
        name_ = properties.deviceName;
        is_cpu_ = properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
        if (families[i].timestampValidBits > 0) timestamp_period_ = properties.limits.timestampPeriod;
        return true;
    }
    return false;
}

void Gpu::make_device()
{
    const float priority = 1;
    VkDeviceQueueCreateInfo queue{.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queue.queueFamilyIndex = family_;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    const char* const swapchain = VK_KHR_SWAPCHAIN_EXTENSION_NAME;
    VkDeviceCreateInfo info{.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    info.pNext = features_->chain();
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = &swapchain;
    VkDevice device = nullptr;
    check(vkCreateDevice(physical_, &info, nullptr, &device), "vkCreateDevice");
    device_.reset(device);
    vkGetDeviceQueue(device, family_, 0, &queue_);
}

reprise::Device Gpu::training_device(bool barrier_per_launch) const
{
    return reprise::vulkan::make_device({.instance = instance(),
                                         .physical_device = physical_,
                                         .device = device(),
                                         .queue = queue_,
                                         .queue_family = family_,
                                         .enabled = &*features_,
                                         .lock_queue = [this] { queue_mutex_.lock(); },
                                         .unlock_queue = [this] { queue_mutex_.unlock(); },
                                         .barrier_per_launch = barrier_per_launch});
}

void Gpu::submit(const VkSubmitInfo& info, VkFence fence) const
{
    const auto lock = lock_queue();
    check(vkQueueSubmit(queue_, 1, &info, fence), "vkQueueSubmit");
}

VkResult Gpu::present(const VkPresentInfoKHR& info) const
{
    const auto lock = lock_queue();
    return vkQueuePresentKHR(queue_, &info);
}

void Gpu::wait_idle() const
{
    const auto lock = lock_queue();
    vkDeviceWaitIdle(device());
}

Memory Gpu::allocate(const VkMemoryRequirements& needed, VkMemoryPropertyFlags flags) const
{
    VkPhysicalDeviceMemoryProperties memory{};
    vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
    for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
        if (!(needed.memoryTypeBits >> i & 1U) || (memory.memoryTypes[i].propertyFlags & flags) != flags)
            continue;
        VkMemoryAllocateInfo info{.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
        info.allocationSize = needed.size;
        info.memoryTypeIndex = i;
        return created<Memory>("vkAllocateMemory", vkAllocateMemory, device(), info);
    }
    throw std::runtime_error("The device has no memory of the kind that a picture needs.");
}

HostBuffer Gpu::host_buffer(VkDeviceSize bytes, VkBufferUsageFlags usage) const
{
    VkBufferCreateInfo info{.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = bytes;
    info.usage = usage;
    HostBuffer out;
    out.buffer = created<Buffer>("vkCreateBuffer", vkCreateBuffer, device(), info);
    VkMemoryRequirements needed{};
    vkGetBufferMemoryRequirements(device(), out.buffer, &needed);
    out.memory = allocate(needed, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    check(vkBindBufferMemory(device(), out.buffer, out.memory, 0), "vkBindBufferMemory");
    void* data = nullptr;
    check(vkMapMemory(device(), out.memory, 0, VK_WHOLE_SIZE, 0, &data), "vkMapMemory");
    out.data = static_cast<std::byte*>(data);
    return out;
}

} // namespace desktop
