#include "device/vulkan/logical_device.hpp"
#include <algorithm>
#include <bit>
#include <reprise/error.hpp>

namespace reprise::device::vulkan {

LogicalDevice::LogicalDevice(std::shared_ptr<Instance> instance, const PhysicalDevice& physical,
                             const DeviceOptions& options, const ExternalVulkan* external)
    : instance_(std::move(instance)), physical_(physical), queue_family_(physical.queue_family),
      owned_(external == nullptr), imitate_discrete_(options.imitate_discrete)
{
    if (external) {
        handle_ = external->device;
        queue_ = external->queue;
        queue_family_ = external->queue_family;
        vk = instance_->device_functions(handle_);
    } else {
        create();
    }
}

void LogicalDevice::create()
{
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue_info{.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                             .queueFamilyIndex = queue_family_,
                                             .queueCount = 1,
                                             .pQueuePriorities = &priority};
    FeatureChain features = physical_.features.enabled();
    CooperativeMatrixFeatures matrices(physical_.matrices);
    std::vector<const char*> extensions = matrices.extensions();
    if (physical_.portability_subset) {
        extensions.push_back("VK_KHR_portability_subset");
    }
    VkPhysicalDeviceFeatures2* const chain = features.head();
    features.v12.pNext = matrices.chain();
    const VkDeviceCreateInfo info{.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                  .pNext = chain,
                                  .queueCreateInfoCount = 1,
                                  .pQueueCreateInfos = &queue_info,
                                  .enabledExtensionCount = static_cast<std::uint32_t>(extensions.size()),
                                  .ppEnabledExtensionNames = extensions.data()};
    check("allocate", "vkCreateDevice",
          [&] { return instance_->functions().vkCreateDevice(physical_.handle, &info, nullptr, &handle_); });
    vk = instance_->device_functions(handle_);
    vk.vkGetDeviceQueue(handle_, queue_family_, 0, &queue_);
}

LogicalDevice::~LogicalDevice()
{
    if (owned_ && handle_ != VK_NULL_HANDLE) {
        vk.vkDestroyDevice(handle_, nullptr);
    }
}

namespace {
template <class... Arguments> VKAPI_ATTR void VKAPI_CALL nothing(Arguments...) {}
template <class... Arguments> VKAPI_ATTR VkResult VKAPI_CALL succeed(Arguments...) { return VK_SUCCESS; }
VKAPI_ATTR VkResult VKAPI_CALL all_done(VkDevice, VkSemaphore, std::uint64_t* value)
{
    *value = ~std::uint64_t{0};
    return VK_SUCCESS;
}
} // namespace

// Replaces the functions that destructors and cleanup call by no-ops; all other calls are stopped by the checker.
void LogicalDevice::silence() noexcept
{
    vk.vkDestroyBuffer = nothing;
    vk.vkDestroyBufferView = nothing;
    vk.vkDestroyCommandPool = nothing;
    vk.vkDestroyDescriptorPool = nothing;
    vk.vkDestroyDescriptorSetLayout = nothing;
    vk.vkDestroyDevice = nothing;
    vk.vkDestroyPipeline = nothing;
    vk.vkDestroyPipelineLayout = nothing;
    vk.vkDestroyQueryPool = nothing;
    vk.vkDestroySemaphore = nothing;
    vk.vkDestroyShaderModule = nothing;
    vk.vkFreeMemory = nothing;
    vk.vkResetCommandPool = succeed;
    vk.vkSignalSemaphore = succeed;
    vk.vkWaitSemaphores = succeed;
    vk.vkGetSemaphoreCounterValue = all_done;
}

void LogicalDevice::abandon() noexcept
{
    health.set_lost();
    silence();
    instance_->abandon();
}

void LogicalDevice::close() noexcept
{
    if (health.closed()) {
        return;
    }
    health.set_closed();
    {
        const std::lock_guard lock(on_close_mutex_);
        std::for_each(on_close_.rbegin(), on_close_.rend(), [](const auto* destroy) { (*destroy)(); });
    }
    const auto destroy = vk.vkDestroyDevice;
    silence(); // before the device is destroyed: other threads may destroy objects
    if (owned_) {
        destroy(handle_, nullptr);
    }
}

OnClose::OnClose(const LogicalDevice& device, std::function<void()> destroy)
    : device_(device), destroy_(std::move(destroy))
{
    const std::lock_guard lock(device_.on_close_mutex_);
    position_ = device_.on_close_.insert(device_.on_close_.end(), &destroy_);
}

OnClose::~OnClose()
{
    const std::lock_guard lock(device_.on_close_mutex_);
    device_.on_close_.erase(position_);
}

std::uint64_t LogicalDevice::available_bytes(std::uint32_t memory_type) const
{
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 query{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
                                            .pNext = &budget};
    instance_->functions().vkGetPhysicalDeviceMemoryProperties2(physical_.handle, &query);
    const std::uint32_t heap = physical_.memory.memoryTypes[memory_type].heapIndex;
    return budget.heapBudget[heap] - std::min(budget.heapBudget[heap], budget.heapUsage[heap]);
}

std::uint32_t LogicalDevice::memory_type(std::uint32_t bits, VkMemoryPropertyFlags required,
                                         VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags unwanted) const
{
    int best_score = -1000;
    std::uint32_t best = VK_MAX_MEMORY_TYPES;
    for (std::uint32_t i = 0; i < physical_.memory.memoryTypeCount; ++i) {
        const VkMemoryPropertyFlags flags = memory_flags(i);
        // Protected memory is refused, device-coherent memory is slow.
        const bool special =
            (flags & (VK_MEMORY_PROPERTY_PROTECTED_BIT | VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD)) != 0;
        if (!(bits >> i & 1) || (flags & required) != required || special) {
            continue;
        }
        const int score = std::popcount(flags & wanted) - std::popcount(flags & unwanted);
        if (score > best_score) {
            best_score = score;
            best = i;
        }
    }
    if (best == VK_MAX_MEMORY_TYPES) {
        reprise::detail::fail(ErrorKind::unsupported, "vulkan",
                              "No memory type of the device has the properties (", required,
                              ") among the types (", bits, ") that a storage buffer may use.");
    }
    return best;
}

void LogicalDevice::set_name(VkObjectType type, std::uint64_t object, const std::string& text) const
{
    if (!instance_->names_objects()) {
        return;
    }
    const VkDebugUtilsObjectNameInfoEXT info{.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
                                             .objectType = type,
                                             .objectHandle = object,
                                             .pObjectName = text.c_str()};
    instance_->functions().vkSetDebugUtilsObjectNameEXT(handle_, &info); // a lost name is no error
}

} // namespace reprise::device::vulkan
