// A Vulkan layer for scripts/check_compilers: it appends a line of JSON to the file COMPILERS_FILE for each compute
// pipeline that the program creates, with what VK_KHR_pipeline_executable_properties tells about it:
//
//   {"kernel": the name that VK_EXT_debug_utils gave the shader module, "constants": [specialization constants],
//    "result": a VkResult, "milliseconds": time to compile, "subgroup": size, "statistics": {the driver's names:
//    values}, "assembly": text}
//
// It is made for chips that a drm-shim imitates, on which nothing is computed: submissions are dropped and count as
// done.  A layer sees the modules, constants and options that the library really uses on the chip, fused kernels
// included.
#include <vulkan/vulkan.h>

#include <vulkan/vk_layer.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#define EXPORT extern "C" __attribute__((visibility("default"))) VKAPI_ATTR

namespace {

using nlohmann::json;

// Of the instance and the device that were created last.  The library has one of each at a time.
struct Next {
    VkInstance instance = VK_NULL_HANDLE;
    PFN_vkGetInstanceProcAddr instance_proc = nullptr;
    PFN_vkGetDeviceProcAddr device_proc = nullptr;
    bool has_statistics = false;
} next;

std::mutex mutex;                             // of the names, and of the file
std::map<VkShaderModule, std::string> names;  // of modules
std::atomic<std::uint64_t> last_signalled{0}; // the largest value that a submission signals

template <class Function> Function of_instance(const char* name)
{
    return reinterpret_cast<Function>(next.instance_proc(next.instance, name));
}
template <class Function> Function of_device(VkDevice device, const char* name)
{
    return reinterpret_cast<Function>(next.device_proc(device, name));
}

// Returns the structure in which the loader passes the functions of the next layer, which is in the chain of the create
// info of an instance or a device.
template <class Link> Link* link_of(const void* chain, VkStructureType type)
{
    for (auto* s = static_cast<const VkBaseInStructure*>(chain); s; s = s->pNext) {
        auto* link = const_cast<Link*>(reinterpret_cast<const Link*>(s));
        if (s->sType == type && link->function == VK_LAYER_LINK_INFO) return link;
    }
    return nullptr;
}

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                               const VkAllocationCallbacks* allocator, VkInstance* instance)
{
    auto* link =
        link_of<VkLayerInstanceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
    if (!link) return VK_ERROR_INITIALIZATION_FAILED;
    next.instance_proc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    next.instance = VK_NULL_HANDLE;
    const VkResult result = of_instance<PFN_vkCreateInstance>("vkCreateInstance")(info, allocator, instance);
    if (result == VK_SUCCESS) next.instance = *instance;
    return result;
}

bool offers(VkPhysicalDevice physical, const char* extension)
{
    const auto list =
        of_instance<PFN_vkEnumerateDeviceExtensionProperties>("vkEnumerateDeviceExtensionProperties");
    std::uint32_t count = 0;
    list(physical, nullptr, &count, nullptr);
    std::vector<VkExtensionProperties> extensions(count);
    list(physical, nullptr, &count, extensions.data());
    return std::any_of(extensions.begin(), extensions.end(), [&](const VkExtensionProperties& e) {
        return !std::strcmp(e.extensionName, extension);
    });
}

// Creates the device with the extension for statistics, where the driver has it.
VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* allocator, VkDevice* device)
{
    auto* link = link_of<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
    if (!link) return VK_ERROR_INITIALIZATION_FAILED;
    const PFN_vkGetInstanceProcAddr instance_proc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    next.device_proc = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;

    VkDeviceCreateInfo changed = *info;
    std::vector<const char*> extensions(info->ppEnabledExtensionNames,
                                        info->ppEnabledExtensionNames + info->enabledExtensionCount);
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR feature{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
        const_cast<void*>(info->pNext), VK_TRUE};
    next.has_statistics = offers(physical, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
    if (next.has_statistics) {
        extensions.push_back(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
        changed.pNext = &feature;
    }
    changed.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    changed.ppEnabledExtensionNames = extensions.data();
    const auto create = reinterpret_cast<PFN_vkCreateDevice>(instance_proc(next.instance, "vkCreateDevice"));
    return create(physical, &changed, allocator, device);
}

VKAPI_ATTR VkResult VKAPI_CALL set_name(VkDevice, const VkDebugUtilsObjectNameInfoEXT* info)
{
    if (info->objectType != VK_OBJECT_TYPE_SHADER_MODULE) return VK_SUCCESS;
    const std::lock_guard lock(mutex);
    names[reinterpret_cast<VkShaderModule>(info->objectHandle)] = info->pObjectName ? info->pObjectName : "";
    return VK_SUCCESS;
}

json value_of(const VkPipelineExecutableStatisticKHR& s)
{
    switch (s.format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR: return s.value.b32 != VK_FALSE;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR: return s.value.i64;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR: return s.value.u64;
    default: return s.value.f64;
    }
}

// Returns what a function of the extension lists about an executable.
template <class Item, class Get> std::vector<Item> items_of(VkDevice device,
                                                            const VkPipelineExecutableInfoKHR& executable,
                                                            Get get, VkStructureType type)
{
    std::uint32_t count = 0;
    get(device, &executable, &count, nullptr);
    Item item{};
    item.sType = type;
    std::vector<Item> items(count, item);
    get(device, &executable, &count, items.data());
    return items;
}

json statistics_of(VkDevice device, const VkPipelineExecutableInfoKHR& executable)
{
    const auto get =
        of_device<PFN_vkGetPipelineExecutableStatisticsKHR>(device, "vkGetPipelineExecutableStatisticsKHR");
    json all = json::object();
    for (const auto& s : items_of<VkPipelineExecutableStatisticKHR>(
             device, executable, get, VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR))
        all[s.name] = value_of(s);
    return all;
}

// Returns the text whose name says "assembly"; the others are intermediate forms of the compiler.
std::string assembly_of(VkDevice device, const VkPipelineExecutableInfoKHR& executable)
{
    const auto get = of_device<PFN_vkGetPipelineExecutableInternalRepresentationsKHR>(
        device, "vkGetPipelineExecutableInternalRepresentationsKHR");
    auto forms = items_of<VkPipelineExecutableInternalRepresentationKHR>(
        device, executable, get, VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR);
    std::vector<std::string> texts(forms.size());
    for (std::size_t i = 0; i < forms.size(); ++i) {
        texts[i].resize(forms[i].dataSize);
        forms[i].pData = texts[i].data();
    }
    auto count = static_cast<std::uint32_t>(forms.size());
    get(device, &executable, &count, forms.data());
    for (std::size_t i = 0; i < forms.size(); ++i)
        if (forms[i].isText && std::string(forms[i].name).find("ssembly") != std::string::npos)
            return texts[i].c_str(); // up to the first zero
    return "";
}

// Adds the figures of the pipeline's executable: a compute pipeline has one on each of the drivers.
void add_executable(json& line, VkDevice device, VkPipeline pipeline)
{
    const VkPipelineInfoKHR info{VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, nullptr, pipeline};
    const auto get =
        of_device<PFN_vkGetPipelineExecutablePropertiesKHR>(device, "vkGetPipelineExecutablePropertiesKHR");
    std::uint32_t count = 1;
    VkPipelineExecutablePropertiesKHR properties{};
    properties.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR;
    if (get(device, &info, &count, &properties) < 0 || count == 0) return;
    const VkPipelineExecutableInfoKHR executable{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, nullptr,
                                                 pipeline, 0};
    line["subgroup"] = properties.subgroupSize;
    line["statistics"] = statistics_of(device, executable);
    line["assembly"] = assembly_of(device, executable);
}

std::vector<std::uint32_t> constants_of(const VkSpecializationInfo* info)
{
    std::vector<std::uint32_t> values(info ? info->mapEntryCount : 0);
    for (std::size_t i = 0; i < values.size(); ++i)
        std::memcpy(&values[i], static_cast<const char*>(info->pData) + info->pMapEntries[i].offset,
                    sizeof values[i]);
    return values;
}

void append(const json& line)
{
    const char* const path = std::getenv("COMPILERS_FILE");
    if (!path) return;
    std::ofstream(path, std::ios::app) << line.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
}

VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice device, VkPipelineCache cache, std::uint32_t count,
                                                const VkComputePipelineCreateInfo* infos,
                                                const VkAllocationCallbacks* allocator, VkPipeline* pipelines)
{
    const auto create = of_device<PFN_vkCreateComputePipelines>(device, "vkCreateComputePipelines");
    VkResult worst = VK_SUCCESS;
    for (std::uint32_t i = 0; i < count; ++i) {
        VkComputePipelineCreateInfo info = infos[i];
        if (next.has_statistics)
            info.flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR |
                          VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR;
        const auto start = std::chrono::steady_clock::now();
        const VkResult result = create(device, cache, 1, &info, allocator, pipelines + i);
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
        if (result != VK_SUCCESS) worst = result;

        const std::lock_guard lock(mutex);
        json line{{"kernel", names[info.stage.module]},
                  {"constants", constants_of(info.stage.pSpecializationInfo)},
                  {"result", static_cast<int>(result)},
                  {"milliseconds", took.count()}};
        if (result == VK_SUCCESS && next.has_statistics) add_executable(line, device, pipelines[i]);
        append(line);
    }
    return worst;
}

// ---- Submissions: nothing runs, and each timeline semaphore has the last value that any submission signals. ----

VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue, std::uint32_t count, const VkSubmitInfo* submissions, VkFence)
{
    for (std::uint32_t i = 0; i < count; ++i) {
        for (auto* s = static_cast<const VkBaseInStructure*>(submissions[i].pNext); s; s = s->pNext) {
            if (s->sType != VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO) continue;
            const auto* t = reinterpret_cast<const VkTimelineSemaphoreSubmitInfo*>(s);
            for (std::uint32_t k = 0; k < t->signalSemaphoreValueCount; ++k)
                last_signalled = std::max(last_signalled.load(), t->pSignalSemaphoreValues[k]);
        }
    }
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL wait_semaphores(VkDevice, const VkSemaphoreWaitInfo*, std::uint64_t)
{
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL semaphore_value(VkDevice, VkSemaphore, std::uint64_t* value)
{
    *value = last_signalled;
    return VK_SUCCESS;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char* name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance instance, const char* name);

// Returns the layer's function of that name, or null.
PFN_vkVoidFunction own(const char* name)
{
    const struct {
        const char* name;
        PFN_vkVoidFunction function;
    } table[] = {
#define ROW(vk_name, function) {#vk_name, reinterpret_cast<PFN_vkVoidFunction>(function)}
        ROW(vkCreateInstance, create_instance),
        ROW(vkCreateDevice, create_device),
        ROW(vkGetInstanceProcAddr, instance_proc),
        ROW(vkGetDeviceProcAddr, device_proc),
        ROW(vkSetDebugUtilsObjectNameEXT, set_name),
        ROW(vkCreateComputePipelines, create_pipelines),
        ROW(vkQueueSubmit, submit),
        ROW(vkWaitSemaphores, wait_semaphores),
        ROW(vkGetSemaphoreCounterValue, semaphore_value),
#undef ROW
    };
    for (const auto& row : table)
        if (!std::strcmp(name, row.name)) return row.function;
    return nullptr;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char* name)
{
    const PFN_vkVoidFunction found = own(name);
    return found ? found : next.device_proc(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance instance, const char* name)
{
    const PFN_vkVoidFunction found = own(name);
    if (found) return found;
    return next.instance_proc ? next.instance_proc(instance, name) : nullptr;
}

} // namespace

EXPORT VkResult VKAPI_CALL vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* interface)
{
    interface->loaderLayerInterfaceVersion = 2;
    interface->pfnGetInstanceProcAddr = instance_proc;
    interface->pfnGetDeviceProcAddr = device_proc;
    interface->pfnGetPhysicalDeviceProcAddr = nullptr;
    return VK_SUCCESS;
}
