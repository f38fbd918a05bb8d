#include "device/cuda/modules.hpp"
#include "device/cuda/embedded.hpp"
#include <algorithm>
#include <reprise/error.hpp>
#include <string_view>

namespace reprise::device::cuda {

Modules::~Modules()
{
    const Context::Current current(context_);
    for (const CUmodule m : modules_) context_.driver.cuModuleUnload(m);
}

std::vector<Function> Modules::get(std::span<const LaunchDeclaration> launches)
{
    std::vector<Function> list;
    list.reserve(launches.size());
    const std::lock_guard lock(mutex_);
    for (const LaunchDeclaration& launch : launches)
        list.push_back(launch.on_host ? Function{} : get(launch.kernel));
    return list;
}

Function Modules::get(const Kernel& kernel)
{
    const auto cached = entries_.find(kernel.name);
    if (cached != entries_.end() && cached->second.function.handle) return cached->second.function;
    CUmodule module = nullptr;
    if (cached != entries_.end()) {
        module = load(cached->second.image.data());
    } else if (kernel.code) {
        module = load(kernel.code->data());
    } else {
        const std::span<const EmbeddedKernel> all = embedded_kernels();
        const auto at = std::lower_bound(
            all.begin(), all.end(), kernel.name,
            [](const EmbeddedKernel& k, const std::string& name) { return k.name < std::string_view(name); });
        if (at == all.end() || at->name != kernel.name) {
            reprise::detail::fail(ErrorKind::unsupported, "record", "There is no CUDA kernel (", kernel.name,
                                  ") in this build, and none of that name was registered.");
        }
        CUmodule& embedded = embedded_[at->module];
        if (!embedded) embedded = load(embedded_modules()[at->module].image);
        module = embedded;
    }
    const Function found = find(module, kernel.name);
    entries_[kernel.name].function = found;
    return found;
}

CUmodule Modules::load(const void* image)
{
    CUmodule module = nullptr;
    modules_.reserve(modules_.size() + 1);
    context_.call("cuModuleLoadData", &Driver::cuModuleLoadData, &module, image);
    modules_.push_back(module);
    return module;
}

Function Modules::find(CUmodule module, const std::string& name)
{
    Function f;
    context_.call("cuModuleGetFunction", &Driver::cuModuleGetFunction, &f.handle, module, name.c_str());
    CUdeviceptr shape = 0;
    std::size_t bytes = 0;
    context_.call("cuModuleGetGlobal", &Driver::cuModuleGetGlobal, &shape, &bytes, module,
                  (name + "_shape").c_str());
    std::uint32_t words[2] = {};
    if (bytes != sizeof words) {
        reprise::detail::fail(ErrorKind::internal, "record", "The launch shape of (", name, ") has (", bytes,
                              ") bytes.");
    }
    context_.call("cuMemcpyDtoH", &Driver::cuMemcpyDtoH, words, shape, sizeof words);
    f.threads = words[0];
    f.blocks = words[1];
    return f;
}

// Older recordings keep their functions, since modules are not unloaded.
void Modules::add(const std::string& name, std::vector<std::uint32_t> image)
{
    const std::lock_guard lock(mutex_);
    Entry& e = entries_[name];
    if (e.image == image) return;
    e = {std::move(image), {}};
}

std::uint64_t Modules::loaded() const
{
    const std::lock_guard lock(mutex_);
    return modules_.size();
}

std::uint64_t Modules::functions() const
{
    const std::lock_guard lock(mutex_);
    return static_cast<std::uint64_t>(std::count_if(entries_.begin(), entries_.end(),
                                                    [](const auto& e) { return e.second.function.handle; }));
}

} // namespace reprise::device::cuda
