#include "device/vulkan/pipeline_cache.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "device/embedded_kernels.hpp"
#include "device/float_controls.hpp"
#include "device/spirv.hpp"
#include <algorithm>
#include <atomic>
#include <exception>
#include <reprise/error.hpp>
#include <thread>

namespace reprise::device::vulkan {

namespace {

std::vector<std::uint32_t> embedded_words(const std::string& name)
{
    const EmbeddedKernel* const found = embedded_kernel(name);
    if (!found) {
        reprise::detail::fail(ErrorKind::unsupported, "record", "There is no kernel (", name,
                              ") in this build, and none of that name was registered.");
    }
    std::vector<std::uint32_t> words = unpack(*found->code);
    if (words.empty()) {
        reprise::detail::fail(ErrorKind::internal, "record", "The kernel (", name,
                              ") inside the library is damaged.");
    }
    return words;
}

// Whether the module has a variable with the binding of the slab's windows.
bool sees_windows(std::span<const std::uint32_t> words)
{
    constexpr std::uint32_t windows = 1;
    bool found = false;
    for_each_instruction(words, [&](SpirvWords w) {
        found |= opcode_of(w) == OpDecorate && w.size() == 4 && w[2] == binding_decoration && w[3] == windows;
    });
    return found;
}

bool uses_matrices(std::span<const std::uint32_t> words)
{
    bool found = false;
    for_each_instruction(words, [&](SpirvWords w) {
        found |= opcode_of(w) == OpCapability && w.size() == 2 && w[1] == cooperative_matrix_capability;
    });
    return found;
}

// Calls work(i) for each i below `count`, on the caller and, where threads may be started, on one for each other core.
// The caller also calls report(number of those done), from 0 to `count`.  Rethrows the first exception, after which no
// further call begins.
template <class Work, class Report>
void on_all_cores(std::size_t count, const Work& work, const Report& report)
{
    std::atomic<std::size_t> next = 0, done = 0;
    std::exception_ptr first;
    std::mutex mutex; // guards `first`
    const auto take = [&](bool reports) {
        try {
            if (reports) report(0);
            for (std::size_t i = next++; i < count; i = next++) {
                work(i);
                const std::size_t now = ++done;
                if (reports && now < count && next < count) {
                    report(now);
                }
            }
        } catch (...) {
            next = count;
            const std::lock_guard lock(mutex);
            first = first ? first : std::current_exception();
        }
    };
    std::vector<std::thread> others;
    const std::size_t cores = reprise::detail::may_start_threads() ? std::thread::hardware_concurrency() : 1;
    const std::size_t most = std::min(cores, count);
    others.reserve(most);
    try {
        while (others.size() + 1 < most) {
            others.emplace_back(take, false);
        }
    } catch (...) { // no more threads: those that exist do the work
    }
    take(true);
    for (std::thread& other : others) {
        other.join();
    }
    if (first) {
        std::rethrow_exception(first);
    }
    report(count);
}

} // namespace

void PipelineCache::destroy() noexcept
{
    const auto destroy = [this](const Entry& e) {
        for (const Variant& v : e.variants) {
            device_.vk.vkDestroyPipeline(device_.handle(), v.pipeline, nullptr);
        }
        device_.vk.vkDestroyShaderModule(device_.handle(), e.module, nullptr);
    };
    for (const auto& [name, e] : entries_) {
        destroy(e);
    }
    for (const Entry& e : replaced_) {
        destroy(e);
    }
}

std::vector<VkPipeline> PipelineCache::get(std::span<const Kernel* const> kernels,
                                           const reprise::detail::Progress& progress)
{
    const std::lock_guard lock(mutex_);
    make_missing(kernels, progress);
    std::vector<VkPipeline> list;
    list.reserve(kernels.size());
    for (const Kernel* const kernel : kernels) {
        list.push_back(kernel ? find(entries_.at(kernel->name), kernel->constants) : VK_NULL_HANDLE);
    }
    return list;
}

std::vector<VkPipeline> PipelineCache::get(std::span<const LaunchDeclaration> launches, bool rare,
                                           const reprise::detail::Progress& progress)
{
    std::vector<const Kernel*> kernels;
    kernels.reserve(launches.size());
    for (const LaunchDeclaration& launch : launches) {
        const bool is_left_out = launch.on_host || (launch.rarely_dispatched && !rare);
        kernels.push_back(is_left_out ? nullptr : &launch.kernel);
    }
    return get(kernels, progress);
}

VkPipeline PipelineCache::find(const Entry& e, const std::vector<std::uint32_t>& constants)
{
    for (const Variant& v : e.variants) {
        if (v.constants == constants) {
            return v.pipeline;
        }
    }
    return VK_NULL_HANDLE;
}

// Creates the pipelines that do not exist yet, on all cores: a driver's compiler takes 10 to 100 ms for a large kernel.
void PipelineCache::make_missing(std::span<const Kernel* const> kernels,
                                 const reprise::detail::Progress& progress)
{
    struct Missing {
        Entry* entry;
        const Kernel* kernel;
        VkPipeline pipeline = VK_NULL_HANDLE;
    };
    std::vector<Missing> missing;
    for (const Kernel* const kernel : kernels) {
        if (!kernel) {
            continue;
        }
        Entry& e = entry(*kernel);
        require_windows(e, *kernel);
        const bool is_listed = std::any_of(missing.begin(), missing.end(), [&](const Missing& m) {
            return m.entry == &e && m.kernel->constants == kernel->constants;
        });
        if (!is_listed && find(e, kernel->constants) == VK_NULL_HANDLE) {
            missing.push_back({&e, kernel});
            e.variants.reserve(e.variants.size() + missing.size()); // so that nothing throws below
        }
    }
    if (missing.empty()) {
        return;
    }
    const auto keep = [&] {
        for (const Missing& m : missing) {
            if (m.pipeline != VK_NULL_HANDLE) {
                m.entry->variants.push_back({m.kernel->constants, m.pipeline});
                ++pipelines_;
            }
        }
    };
    try {
        on_all_cores(
            missing.size(),
            [&](std::size_t i) {
                progress.check();
                const reprise::detail::Stopwatch watch;
                missing[i].pipeline = make_pipeline(*missing[i].entry, *missing[i].kernel);
                reprise::detail::log(LogLevel::debug, "The driver compiled ", missing[i].kernel->name, " in ",
                                     watch, ".");
            },
            [&](std::size_t done) { progress.report(RecordStage::pipelines, done, missing.size()); });
    } catch (...) {
        keep();
        throw;
    }
    keep();
}

void PipelineCache::require_windows(const Entry& e, const Kernel& kernel) const
{
    if (e.windows && !slab_.has_windows()) {
        reprise::detail::fail(
            ErrorKind::unsupported, "record", "The kernel (", kernel.name, ") needs (", window_count,
            ") storage buffers at once and shaderStorageBufferArrayDynamicIndexing, which ",
            device_.physical().properties.deviceName,
            " lacks or the application has not enabled: enable all that RequiredFeatures has.");
    }
}

PipelineCache::Entry& PipelineCache::entry(const Kernel& kernel)
{
    const std::string& name = kernel.name;
    const auto found = entries_.find(name);
    if (found != entries_.end()) {
        return found->second;
    }
    Entry& e = entries_[name];
    try {
        std::vector<std::uint32_t> unpacked;
        if (!kernel.code) {
            unpacked = embedded_words(name);
        }
        const std::span<const std::uint32_t> words = kernel.code ? *kernel.code : unpacked;
        e.module = make_module(name, words);
        e.windows = sees_windows(words);
        e.matrices = uses_matrices(words);
    } catch (...) {
        entries_.erase(name);
        throw;
    }
    return e;
}

void PipelineCache::register_kernel(const std::string& name, std::vector<std::uint32_t> words)
{
    if (!is_spirv(words)) {
        reprise::detail::fail(ErrorKind::argument, "register_kernel", "The code of (", name, ") with (",
                              words.size(),
                              ") words is no SPIR-V module, which begins with (0x07230203): "
                              "give what a compiler such as glslc wrote.");
    }
    const std::lock_guard lock(mutex_);
    const auto old = entries_.find(name);
    if (old != entries_.end() && old->second.words == words) {
        return;
    }
    Entry fresh;
    fresh.module = make_module(name, words);
    fresh.windows = sees_windows(words);
    fresh.matrices = uses_matrices(words);
    fresh.words = std::move(words);
    if (old != entries_.end()) {
        replaced_.push_back(std::move(old->second));
        old->second = std::move(fresh);
    } else {
        entries_.emplace(name, std::move(fresh));
    }
}

VkShaderModule PipelineCache::make_module(const std::string& name, std::span<const std::uint32_t> words)
{
    const std::vector<std::uint32_t> unsupported = widths_without_preserve_mode(device_.physical());
    const std::vector<std::uint32_t> changed =
        unsupported.empty() ? std::vector<std::uint32_t>{} : without_preserve_mode(words, unsupported);
    if (!changed.empty()) {
        words = changed;
    }
    const VkShaderModuleCreateInfo info{.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                        .codeSize = words.size_bytes(),
                                        .pCode = words.data()};
    VkShaderModule module = VK_NULL_HANDLE;
    device_.check("record", "vkCreateShaderModule",
                  [&] { return device_.vk.vkCreateShaderModule(device_.handle(), &info, nullptr, &module); });
    ++modules_;
    device_.name(VK_OBJECT_TYPE_SHADER_MODULE, module, name);
    return module;
}

VkPipeline PipelineCache::make_pipeline(const Entry& e, const Kernel& kernel)
{
    std::vector<VkSpecializationMapEntry> map;
    for (std::uint32_t i = 0; i < kernel.constants.size(); ++i) {
        map.push_back({i, i * 4, 4});
    }
    std::vector<std::uint32_t> constants = kernel.constants;
    if (refines_division_) { // ignored by shaders without this constant
        map.push_back({refines_division_constant, static_cast<std::uint32_t>(constants.size()) * 4, 4});
        constants.push_back(VK_TRUE);
    }
    const VkSpecializationInfo specialization{.mapEntryCount = static_cast<std::uint32_t>(map.size()),
                                              .pMapEntries = map.data(),
                                              .dataSize = constants.size() * 4,
                                              .pData = constants.data()};
    constexpr VkPipelineShaderStageCreateFlags full_subgroups =
        VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    const CooperativeMatrices& matrices = device_.physical().matrices; // none of an application's VkDevice
    const bool full = e.matrices && matrices;
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroups{
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = device_.physical().v11.subgroupSize};
    const VkComputePipelineCreateInfo info{
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .pNext = full && matrices.sets_subgroup_size ? &subgroups : nullptr,
                  .flags = full ? full_subgroups : 0u,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = e.module,
                  .pName = "main",
                  .pSpecializationInfo = map.empty() ? nullptr : &specialization},
        .layout = slab_.pipeline_layout()};
    VkPipeline pipeline = VK_NULL_HANDLE;
    device_.check("record", "vkCreateComputePipelines", [&] {
        return device_.vk.vkCreateComputePipelines(device_.handle(), VK_NULL_HANDLE, 1, &info, nullptr,
                                                   &pipeline);
    });
    device_.name(VK_OBJECT_TYPE_PIPELINE, pipeline, kernel.name);
    return pipeline;
}

std::uint64_t PipelineCache::pipelines() const
{
    const std::lock_guard lock(mutex_);
    return pipelines_;
}

std::uint64_t PipelineCache::shader_modules() const
{
    const std::lock_guard lock(mutex_);
    return modules_;
}

} // namespace reprise::device::vulkan
