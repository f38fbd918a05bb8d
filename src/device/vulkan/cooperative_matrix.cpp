#include "device/vulkan/cooperative_matrix.hpp"
#include "device/vulkan/instance.hpp"
#include <algorithm>

namespace reprise::device::vulkan {

namespace {

constexpr const char* extension = "VK_KHR_cooperative_matrix";
constexpr const char* bfloat16_extension = "VK_KHR_shader_bfloat16";
constexpr const char* size_control_extension = "VK_EXT_subgroup_size_control";

// Numbers of the registry.
constexpr auto matrix_features_type = static_cast<VkStructureType>(1000506000);
constexpr auto matrix_properties_type = static_cast<VkStructureType>(1000506001);
constexpr auto bfloat16_features_type = static_cast<VkStructureType>(1000141000);
constexpr std::uint32_t component_f16 = 0, component_f32 = 1, component_bf16 = 1000141000, subgroup_scope = 3;

struct MatrixProperties { // VkCooperativeMatrixPropertiesKHR
    VkStructureType type;
    void* next;
    std::uint32_t m, n, k;
    std::uint32_t a, b, c, result; // VkComponentTypeKHR
    VkBool32 saturates;
    std::uint32_t scope; // VkScopeKHR
};
using GetMatrixProperties = VkResult(VKAPI_PTR*)(VkPhysicalDevice, std::uint32_t*, MatrixProperties*);

std::vector<MatrixProperties> properties_of(const Instance& instance, VkPhysicalDevice device)
{
    const auto get = reinterpret_cast<GetMatrixProperties>(
        vkGetInstanceProcAddr(instance.handle(), "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
    std::uint32_t count = 0;
    if (!get || get(device, &count, nullptr) != VK_SUCCESS) {
        return {};
    }
    std::vector<MatrixProperties> list(count, {.type = matrix_properties_type});
    if (get(device, &count, list.data()) != VK_SUCCESS) {
        return {};
    }
    list.resize(count);
    return list;
}

// The side of square matrices with this type of elements and sums in f32: 16, which GPUs have, or 8, which lavapipe
// has.
std::uint32_t side_of(const std::vector<MatrixProperties>& list, std::uint32_t component)
{
    for (const std::uint32_t side : {16u, 8u}) {
        const bool has = std::any_of(list.begin(), list.end(), [&](const MatrixProperties& p) {
            return p.m == side && p.n == side && p.k == side && p.a == component && p.b == component &&
                   p.c == component_f32 && p.result == component_f32 && p.scope == subgroup_scope;
        });
        if (has) {
            return side;
        }
    }
    return 0;
}

enum class Subgroups : std::uint8_t { not_full, full, full_if_set };

// Whether compute pipelines can have full subgroups of this size.
Subgroups subgroups_of(const Instance& instance, VkPhysicalDevice d, std::uint32_t size)
{
    if (!instance.has_device_extension(d, size_control_extension)) {
        return Subgroups::not_full;
    }
    VkPhysicalDeviceSubgroupSizeControlFeatures features{
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
    VkPhysicalDeviceFeatures2 query{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                    .pNext = &features};
    instance.functions().vkGetPhysicalDeviceFeatures2(d, &query);
    VkPhysicalDeviceSubgroupSizeControlProperties sizes{
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
    VkPhysicalDeviceProperties2 properties{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                           .pNext = &sizes};
    instance.functions().vkGetPhysicalDeviceProperties2(d, &properties);
    if (!features.subgroupSizeControl || !features.computeFullSubgroups || size < sizes.minSubgroupSize ||
        size > sizes.maxSubgroupSize) {
        return Subgroups::not_full;
    }
    if (sizes.minSubgroupSize == sizes.maxSubgroupSize) {
        return Subgroups::full;
    }
    const bool settable = (sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
    return settable ? Subgroups::full_if_set : Subgroups::not_full;
}

// The features of an extension, in the order of its structure; empty if the device lacks the extension.
std::vector<VkBool32> features_of(const Instance& instance, VkPhysicalDevice d, const char* name,
                                  VkStructureType type)
{
    if (!instance.has_device_extension(d, name)) {
        return {};
    }
    struct {
        VkStructureType type;
        void* next = nullptr;
        VkBool32 flags[3]{};
    } features{type};
    VkPhysicalDeviceFeatures2 query{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                    .pNext = &features};
    instance.functions().vkGetPhysicalDeviceFeatures2(d, &query);
    return {std::begin(features.flags), std::end(features.flags)};
}

} // namespace

CooperativeMatrices cooperative_matrices(const Instance& instance, VkPhysicalDevice d,
                                         std::uint32_t subgroup_size, bool has_f16)
{
    CooperativeMatrices found;
    const auto matrices = features_of(instance, d, extension, matrix_features_type); // cooperativeMatrix, ...
    if (matrices.empty() || !matrices[0]) {
        return found;
    }
    const Subgroups subgroups = subgroups_of(instance, d, subgroup_size);
    if (subgroups == Subgroups::not_full) {
        return found;
    }
    found.sets_subgroup_size = subgroups == Subgroups::full_if_set;
    const std::vector<MatrixProperties> list = properties_of(instance, d);
    if (has_f16) {
        found.f16_side = side_of(list, component_f16);
    }
    // shaderBFloat16Type, shaderBFloat16DotProduct, shaderBFloat16CooperativeMatrix
    const auto bfloat16 = features_of(instance, d, bfloat16_extension, bfloat16_features_type);
    if (!bfloat16.empty() && bfloat16[0] && bfloat16[2]) {
        found.bf16_side = side_of(list, component_bf16);
    }
    return found;
}

CooperativeMatrixFeatures::CooperativeMatrixFeatures(const CooperativeMatrices& matrices)
{
    if (!matrices) {
        return;
    }
    extensions_ = {extension, size_control_extension};
    subgroups_ = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES, nullptr, {VK_TRUE, VK_TRUE}};
    matrices_ = {matrix_features_type, &subgroups_, {VK_TRUE, VK_FALSE}};
    first_ = &matrices_;
    if (matrices.bf16_side != 0) {
        extensions_.push_back(bfloat16_extension);
        bfloat16_ = {bfloat16_features_type, first_, {VK_TRUE, VK_FALSE, VK_TRUE}};
        first_ = &bfloat16_;
    }
}

} // namespace reprise::device::vulkan
