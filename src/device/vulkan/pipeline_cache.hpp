// Pipelines by kernel name and specialization constants, created on first use, those of a recording on all cores at
// once.  Thread-safe.
#pragma once
#include "device/vulkan/slab.hpp"
#include <mutex>
#include <span>
#include <unordered_map>

namespace reprise::device::vulkan {

class PipelineCache {
public:
    PipelineCache(const LogicalDevice& device, const Slab& slab) : device_(device), slab_(slab) {}
    ~PipelineCache() { destroy(); }
    PipelineCache(const PipelineCache&) = delete;
    PipelineCache& operator=(const PipelineCache&) = delete;

    // Returns the pipelines of the kernels, in their order; null for a null pointer.  They live as long as the cache.
    std::vector<VkPipeline> get(std::span<const Kernel* const>, const reprise::detail::Progress& = {});
    // The same of launches; null for those on the host and, without `rare`, for those that are rarely dispatched.
    std::vector<VkPipeline> get(std::span<const LaunchDeclaration>, bool rare,
                                const reprise::detail::Progress& = {});
    void register_kernel(const std::string& name, std::vector<std::uint32_t> words);

    // Sets REFINES_DIVISION of shaders/common/vocabulary.glsl, for pipelines that are created later; before other
    // threads have the device.
    void refine_divisions(bool on) { refines_division_ = on; }

    std::uint64_t pipelines() const; // created so far
    std::uint64_t shader_modules() const;

private:
    struct Variant {
        std::vector<std::uint32_t> constants;
        VkPipeline pipeline;
    };
    struct Entry {
        VkShaderModule module = VK_NULL_HANDLE;
        std::vector<Variant> variants;
        std::vector<std::uint32_t> words{}; // only of a registered kernel
        bool windows = false;               // uses the slab's windows
        bool matrices = false; // uses cooperative matrices: runs with full subgroups of the usual size
    };
    void destroy() noexcept;
    void make_missing(std::span<const Kernel* const>, const reprise::detail::Progress&);
    void require_windows(const Entry&, const Kernel&) const;
    // Returns the entry's pipeline with these constants; null if there is none.
    static VkPipeline find(const Entry&, const std::vector<std::uint32_t>& constants);
    Entry& entry(const Kernel&);
    VkShaderModule make_module(const std::string& name, std::span<const std::uint32_t> words);
    VkPipeline make_pipeline(const Entry&, const Kernel&);

    const LogicalDevice& device_;
    const Slab& slab_;
    mutable std::mutex mutex_;
    std::unordered_map<std::string, Entry> entries_;
    std::vector<Entry> replaced_; // by register_kernel(); recordings may still use them
    std::uint64_t pipelines_ = 0, modules_ = 0;
    bool refines_division_ = false;
    OnClose on_close_{device_, [this] { destroy(); }};
};

} // namespace reprise::device::vulkan
