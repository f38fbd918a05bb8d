#include "kernels.hpp"
#include "fibers.hpp"

#include <map>

Dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace cuda_emulation {

namespace {

std::map<std::string, Kernel>& kernels()
{
    // The program's static objects may outlive the driver's.
    static auto& all = *new std::map<std::string, Kernel>;
    return all;
}

} // namespace

Registration::Registration(const char* name, LaunchShape shape, KernelFunction function, bool cooperative)
{
    kernels().emplace(name, Kernel{name, shape, function, cooperative});
}

Kernel* find_kernel(const std::string& name)
{
    const auto found = kernels().find(name);
    return found == kernels().end() ? nullptr : &found->second;
}

std::vector<const Kernel*> all_kernels()
{
    std::vector<const Kernel*> list;
    for (const auto& [name, k] : kernels()) list.push_back(&k);
    return list;
}

bool run(Kernel& k, unsigned blocks, const void* record, const void* constants)
{
    ++k.launches;
    const auto& c = *static_cast<const rp::Constants*>(constants);
    gridDim.x = blocks;
    blockDim.x = k.shape.threads;
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
        if (k.cooperative) {
            const bool backwards = (k.launches + blockIdx.x) % 2 == 0;
            if (!run_block(k.shape.threads, backwards, [&] { k.function(record, c); })) return false;
            continue;
        }
        for (threadIdx.x = 0; threadIdx.x < k.shape.threads; ++threadIdx.x) k.function(record, c);
    }
    return true;
}

} // namespace cuda_emulation
