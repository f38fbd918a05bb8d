// VK_KHR_cooperative_matrix: products of small matrices that a subgroup computes together.  The declarations are here,
// as Vulkan's headers have them only since 1.3.255 (that of bf16 since 1.4.311).
#pragma once
#include <cstdint>
#include <vector>
#include <volk.h>

namespace reprise::device::vulkan {

class Instance;

// The sides of the square matrices that a device multiplies, with sums in f32, by their elements' type; 0: none.
struct CooperativeMatrices {
    std::uint32_t f16_side = 0, bf16_side = 0;
    bool sets_subgroup_size = false; // pipelines must ask for the device's usual size, as it has several

    explicit operator bool() const noexcept { return f16_side != 0 || bf16_side != 0; }
};

// None if the device can't run pipelines with full subgroups of its usual size (VK_EXT_subgroup_size_control).  The
// device must have vulkanMemoryModel and storageBuffer16BitAccess; `has_f16`: shaderFloat16.
CooperativeMatrices cooperative_matrices(const Instance&, VkPhysicalDevice, std::uint32_t subgroup_size,
                                         bool has_f16);

// The extensions and features to enable for them, in the order of pNext.
class CooperativeMatrixFeatures {
public:
    explicit CooperativeMatrixFeatures(const CooperativeMatrices&);
    CooperativeMatrixFeatures(const CooperativeMatrixFeatures&) = delete;
    CooperativeMatrixFeatures& operator=(const CooperativeMatrixFeatures&) = delete;

    void* chain() noexcept { return first_; } // null: nothing to enable
    const std::vector<const char*>& extensions() const noexcept { return extensions_; }

private:
    struct
        TwoFlags { // VkPhysicalDeviceCooperativeMatrixFeaturesKHR, VkPhysicalDeviceSubgroupSizeControlFeatures
        VkStructureType type;
        void* next;
        VkBool32 flags[2];
    };
    struct ThreeFlags { // VkPhysicalDeviceShaderBfloat16FeaturesKHR
        VkStructureType type;
        void* next;
        VkBool32 flags[3];
    };
    TwoFlags matrices_{}, subgroups_{};
    ThreeFlags bfloat16_{};
    void* first_ = nullptr;
    std::vector<const char*> extensions_;
};

} // namespace reprise::device::vulkan
