#include "device/vulkan/instance.hpp"
#include "device/vulkan/error.hpp"
#include <algorithm>
#include <cstring>
#include <mutex>
#include <reprise/error.hpp>

namespace reprise::device::vulkan {

namespace {

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";
constexpr const char* portability_enumeration = "VK_KHR_portability_enumeration"; // drivers on Metal

// volk stores the loader's functions in global variables.
std::mutex volk_mutex;

void load_vulkan()
{
    const std::lock_guard lock(volk_mutex);
    static const VkResult result = volkInitialize();
    if (result != VK_SUCCESS) {
        reprise::detail::fail(ErrorKind::device, "vulkan",
                              "The Vulkan loader (libvulkan.so.1, vulkan-1.dll) cannot "
                              "be loaded: install the graphics driver or the loader's package.");
    }
    if (volkGetInstanceVersion() < VK_API_VERSION_1_2) {
        reprise::detail::fail(ErrorKind::device, "vulkan", "The Vulkan loader is older than 1.2: update it.");
    }
}

template <class Properties, class Query> std::vector<Properties> all(Query&& query)
{
    std::uint32_t count = 0;
    std::vector<Properties> list;
    while (query(&count, nullptr) >= 0) {
        list.resize(count);
        if (query(&count, list.data()) != VK_INCOMPLETE) {
            list.resize(count);
            break;
        }
    }
    return list;
}

bool has_layer(const char* name)
{
    const auto layers = all<VkLayerProperties>(
        [](std::uint32_t* n, VkLayerProperties* p) { return vkEnumerateInstanceLayerProperties(n, p); });
    return std::any_of(layers.begin(), layers.end(),
                       [&](const VkLayerProperties& l) { return std::strcmp(l.layerName, name) == 0; });
}

// `query` enumerates extensions.
template <class Query> bool lists_extension(const char* name, Query&& query)
{
    const auto extensions = all<VkExtensionProperties>(query);
    return std::any_of(extensions.begin(), extensions.end(), [&](const VkExtensionProperties& e) {
        return std::strcmp(e.extensionName, name) == 0;
    });
}

bool has_extension(const char* name)
{
    return lists_extension(name, [](std::uint32_t* n, VkExtensionProperties* p) {
        return vkEnumerateInstanceExtensionProperties(nullptr, n, p);
    });
}

VKAPI_ATTR VkBool32 VKAPI_CALL forward(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                       VkDebugUtilsMessageTypeFlagsEXT,
                                       const VkDebugUtilsMessengerCallbackDataEXT* data, void* sink)
{
    try {
        std::string text = data->pMessageIdName ? data->pMessageIdName : "";
        text += text.empty() ? "" : ": ";
        text += data->pMessage ? data->pMessage : "";
        (*static_cast<std::function<void(const std::string&)>*>(sink))(text);
    } catch (...) { // no exception may pass through the driver
    }
    return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info(std::function<void(const std::string&)>* sink)
{
    return {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
            .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                               VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
            .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
            .pfnUserCallback = forward,
            .pUserData = sink};
}

} // namespace

std::shared_ptr<Instance> Instance::make(const DeviceOptions& options)
{
    load_vulkan();
    std::vector<const char*> layers, extensions;
    if (options.validation) {
        if (!has_layer(validation_layer)) {
            reprise::detail::fail(ErrorKind::unsupported, "vulkan", "The layer (", validation_layer,
                                  ") is not installed: install the Vulkan validation layers.");
        }
        layers.push_back(validation_layer);
    }
    const bool debug_utils = has_extension(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    if (debug_utils) {
        extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    }
    const VkApplicationInfo application{.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                        .pEngineName = "reprise",
                                        .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info{.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                              .pApplicationInfo = &application};
    if (has_extension(portability_enumeration)) {
        extensions.push_back(portability_enumeration);
        info.flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    }
    info.enabledLayerCount = static_cast<std::uint32_t>(layers.size());
    info.ppEnabledLayerNames = layers.data();
    info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    auto sink = std::make_unique<Sink>(options.messages);
    const VkDebugUtilsMessengerCreateInfoEXT while_creating = messenger_info(sink.get());
    if (debug_utils && options.messages) {
        info.pNext = &while_creating;
    }
    VkInstance handle = VK_NULL_HANDLE;
    const VkResult result = vkCreateInstance(&info, nullptr, &handle);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
        reprise::detail::fail(ErrorKind::device, "vulkan",
                              "There is no Vulkan driver: install the one of the GPU, or "
                              "lavapipe (Mesa) for the CPU.");
    }
    if (result != VK_SUCCESS) {
        fail_result(result, "vkCreateInstance");
    }
    std::shared_ptr<Instance> instance(new Instance(handle, true, debug_utils));
    instance->messages_ = std::move(sink);
    if (debug_utils && options.messages) {
        instance->listen();
    }
    return instance;
}

std::shared_ptr<Instance> Instance::adopt(VkInstance handle)
{
    load_vulkan();
    return std::shared_ptr<Instance>(new Instance(handle, false, false));
}

Instance::Instance(VkInstance handle, bool owned, bool debug_utils)
    : handle_(handle), owned_(owned), debug_utils_(debug_utils)
{
#define RP_INSTANCE_FUNCTION(name)                                                                           \
    functions_.name = reinterpret_cast<PFN_##name>(vkGetInstanceProcAddr(handle, #name));
#include "device/vulkan/instance_functions.def"
#undef RP_INSTANCE_FUNCTION
}

void Instance::listen()
{
    const VkDebugUtilsMessengerCreateInfoEXT info = messenger_info(messages_.get());
    const VkResult result = functions_.vkCreateDebugUtilsMessengerEXT(handle_, &info, nullptr, &messenger_);
    if (result != VK_SUCCESS) {
        fail_result(result, "vkCreateDebugUtilsMessengerEXT");
    }
}

Instance::~Instance()
{
    if (messenger_ != VK_NULL_HANDLE) {
        functions_.vkDestroyDebugUtilsMessengerEXT(handle_, messenger_, nullptr);
    }
    if (owned_) {
        functions_.vkDestroyInstance(handle_, nullptr);
    }
}

void Instance::abandon() noexcept
{
    owned_ = false;
    messenger_ = VK_NULL_HANDLE;
}

std::vector<VkPhysicalDevice> Instance::physical_devices() const
{
    return all<VkPhysicalDevice>([this](std::uint32_t* n, VkPhysicalDevice* p) {
        return functions_.vkEnumeratePhysicalDevices(handle_, n, p);
    });
}

bool Instance::has_device_extension(VkPhysicalDevice device, const char* name) const
{
    return lists_extension(name, [&](std::uint32_t* n, VkExtensionProperties* p) {
        return functions_.vkEnumerateDeviceExtensionProperties(device, nullptr, n, p);
    });
}

VolkDeviceTable Instance::device_functions(VkDevice device) const
{
    const std::lock_guard lock(volk_mutex);
    vkGetDeviceProcAddr = functions_.vkGetDeviceProcAddr; // volkLoadDeviceTable uses it
    VolkDeviceTable table{};
    volkLoadDeviceTable(&table, device);
    return table;
}

} // namespace reprise::device::vulkan
