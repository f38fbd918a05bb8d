// A libcuda.so.1 without a GPU: one device, whose kernels are those of cuda/ and shaders/ compiled for the host.
//
// Work of a stream is kept back until somebody waits for it or asks whether it is done, so that memory which the host
// gives away or writes too early shows.  Streams run in any order that their events allow, and a graph's nodes in any
// that its edges allow, another one each time.
//
// Environment: REPRISE_EMULATED_CUDA, words of <name>=<number>: version (of the driver), devices, memory (MiB), major
// and minor (of the compute capability, 9.0).
#include "work.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image.hpp"

using namespace cuda_emulation;

namespace {
std::size_t memory_bytes() { return setting("memory", 6144) << 20; }
}

// -- what tests ask of the emulation --

// The n-th next call of `function` answers `result`.
RP_EXPORT void reprise_emulated_cuda_fail(const char* function, int n, int result)
{
    const std::lock_guard lock(state().mutex);
    state().failures[function] = {n, static_cast<CUresult>(result)};
}
// Calls after this answer as those of a new process.
RP_EXPORT void reprise_emulated_cuda_revive()
{
    const std::lock_guard lock(state().mutex);
    state().failures.clear();
    state().sticky = CUDA_SUCCESS;
}
// What a library that is not the driver asks of it: the answer that a test has ordered, to do something while no work
// runs, an error that stays, and a place in a stream's order.
RP_EXPORT int reprise_emulated_cuda_refusal(const char* function)
{
    const std::lock_guard lock(state().mutex);
    return static_cast<int>(refusal(function));
}
RP_EXPORT void reprise_emulated_cuda_between_works(const std::function<void()>& f)
{
    const std::lock_guard lock(state().mutex);
    f();
}
RP_EXPORT void reprise_emulated_cuda_break()
{
    const std::lock_guard lock(state().mutex);
    state().sticky = CUDA_ERROR_LAUNCH_FAILED;
}
RP_EXPORT void reprise_emulated_cuda_send(CUstream stream, std::function<void()> work)
{
    const std::lock_guard lock(state().mutex);
    if (Graph* graph = reinterpret_cast<Stream*>(stream)->captured.get()) {
        auto node = std::make_unique<Node>();
        node->launch.inner = {std::move(work)};
        node->index = graph->nodes.size();
        if (node->index > 0) node->after = {node->index - 1};
        graph->nodes.push_back(std::move(node));
        return;
    }
    send(stream, {std::move(work)});
}
// The same, once it is ready.
RP_EXPORT void reprise_emulated_cuda_send_when(CUstream stream, std::function<bool()> is_ready,
                                               std::function<void()> work)
{
    const std::lock_guard lock(state().mutex);
    send(stream, {std::move(work), std::move(is_ready)});
}
// At the process's end, in the folder REPRISE_EMULATED_CUDA_KERNELS, a file of "<kernel> <launches>" lines.  It gets
// its name when it is whole, as a launcher may kill a rank at any time.
namespace {
struct Report {
    ~Report()
    {
        const char* folder = std::getenv("REPRISE_EMULATED_CUDA_KERNELS");
        if (!folder) return;
        const std::string name = std::string(folder) + "/" + std::to_string(getpid());
        std::ofstream out(name);
        for (const Kernel* k : cuda_emulation::all_kernels()) {
            const bool made = k->name.find("fused_") != std::string::npos || k->name.rfind("user_", 0) == 0;
            if (!made) // at run time
                out << k->name << ' ' << k->launches << '\n';
        }
        out.close();
        std::rename(name.c_str(), (name + ".txt").c_str());
    }
};
} // namespace

// -- the driver --

RP_EXPORT CUresult cuInit(unsigned)
{
    RP_ENTER
    static const Report report;
    return setting("devices", 1) == 0 ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}

RP_EXPORT CUresult cuDriverGetVersion(int* version)
{
    *version = static_cast<int>(setting("version", CUDA_VERSION));
    return CUDA_SUCCESS;
}

RP_EXPORT CUresult cuGetErrorName(CUresult error, const char** name)
{
    switch (error) {
    case CUDA_SUCCESS: *name = "CUDA_SUCCESS"; break;
    case CUDA_ERROR_OUT_OF_MEMORY: *name = "CUDA_ERROR_OUT_OF_MEMORY"; break;
    case CUDA_ERROR_INVALID_VALUE: *name = "CUDA_ERROR_INVALID_VALUE"; break;
    case CUDA_ERROR_NOT_FOUND: *name = "CUDA_ERROR_NOT_FOUND"; break;
    case CUDA_ERROR_NO_BINARY_FOR_GPU: *name = "CUDA_ERROR_NO_BINARY_FOR_GPU"; break;
    default: *name = "CUDA_ERROR_UNKNOWN"; break;
    }
    return CUDA_SUCCESS;
}

RP_EXPORT CUresult cuDeviceGetCount(int* count)
{
    *count = static_cast<int>(setting("devices", 1));
    return CUDA_SUCCESS;
}

RP_EXPORT CUresult cuDeviceGet(CUdevice* device, int ordinal)
{
    RP_ENTER
    *device = ordinal;
    return CUDA_SUCCESS;
}

RP_EXPORT CUresult cuDeviceGetName(char* name, int length, CUdevice)
{
    std::snprintf(name, static_cast<std::size_t>(length), "emulated CUDA device");
    return CUDA_SUCCESS;
}

RP_EXPORT CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice)
{
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = static_cast<int>(setting("major", 9)); break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = static_cast<int>(setting("minor", 0)); break;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = 32; break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = 1024; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *value = 49152; break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 4; break;
    default: *value = 0; break;
    }
    return CUDA_SUCCESS;
}

RP_EXPORT CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice)
{
    *bytes = memory_bytes();
    return CUDA_SUCCESS;
}

RP_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice)
{
    RP_ENTER
    ++state().contexts;
    *context = reinterpret_cast<CUcontext>(&state());
    return CUDA_SUCCESS;
}
// With the last one goes all memory that is left.
RP_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice)
{
    const std::lock_guard lock(state().mutex);
    State& s = state();
    if (--s.contexts > 0) return CUDA_SUCCESS;
    work_until_all_is_done();
    for (const auto& [address, bytes] : s.memory) std::free(reinterpret_cast<void*>(address));
    s.memory.clear();
    s.in_use = 0;
    return CUDA_SUCCESS;
}

RP_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext)
{
    ++current_contexts;
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuCtxPopCurrent_v2(CUcontext*)
{
    --current_contexts;
    return CUDA_SUCCESS;
}

RP_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes)
{
    RP_ENTER_CONTEXT
    State& s = state();
    if (bytes == 0 || s.in_use + bytes > memory_bytes()) return CUDA_ERROR_OUT_OF_MEMORY;
    void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!memory) return CUDA_ERROR_OUT_OF_MEMORY;
    *address = reinterpret_cast<CUdeviceptr>(memory);
    s.memory[*address] = bytes;
    s.in_use += bytes;
    return CUDA_SUCCESS;
}

RP_EXPORT CUresult cuMemFree_v2(CUdeviceptr address)
{
    RP_ENTER_CONTEXT
    State& s = state();
    const auto range = s.memory.find(address);
    if (range == s.memory.end()) return CUDA_ERROR_INVALID_VALUE;
    work_until_all_is_done(); // as the driver: freeing waits for the device
    s.in_use -= range->second;
    s.memory.erase(range);
    std::free(reinterpret_cast<void*>(address));
    return CUDA_SUCCESS;
}

RP_EXPORT CUresult cuMemHostAlloc(void** host, std::size_t bytes, unsigned)
{
    RP_ENTER_CONTEXT
    *host = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    return *host ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
RP_EXPORT CUresult cuMemFreeHost(void* host)
{
    const std::lock_guard lock(state().mutex);
    work_until_all_is_done();
    std::free(host);
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* host, unsigned)
{
    RP_ENTER_CONTEXT
    *address = reinterpret_cast<CUdeviceptr>(host);
    return CUDA_SUCCESS;
}

RP_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream)
{
    RP_ENTER_CONTEXT
    send(stream, {[=] { std::memcpy(reinterpret_cast<void*>(to), from, bytes); }});
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream)
{
    RP_ENTER_CONTEXT
    send(stream, {[=] { std::memcpy(to, reinterpret_cast<const void*>(from), bytes); }});
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes)
{
    RP_ENTER_CONTEXT
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return CUDA_SUCCESS;
}

RP_EXPORT CUresult cuStreamCreate(CUstream* stream, unsigned)
{
    RP_ENTER_CONTEXT
    state().streams.push_back(new Stream);
    *stream = reinterpret_cast<CUstream>(state().streams.back());
    return CUDA_SUCCESS;
}
namespace {
void finish(const Stream& s)
{
    work_until([&] { return *s.done == s.sent; });
}
} // namespace
RP_EXPORT CUresult cuStreamDestroy_v2(CUstream stream)
{
    const std::lock_guard lock(state().mutex);
    auto* const s = reinterpret_cast<Stream*>(stream);
    finish(*s);
    std::erase(state().streams, s);
    delete s;
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuStreamSynchronize(CUstream stream)
{
    RP_ENTER_CONTEXT
    finish(*reinterpret_cast<Stream*>(stream));
    return CUDA_SUCCESS;
}

RP_EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned)
{
    RP_ENTER_CONTEXT
    const Event e = *reinterpret_cast<Event*>(event); // as it is now
    send(stream, {[] {}, [e] { return e.is_done(); }});
    return CUDA_SUCCESS;
}

RP_EXPORT CUresult cuEventCreate(CUevent* event, unsigned)
{
    RP_ENTER_CONTEXT
    *event = reinterpret_cast<CUevent>(new Event);
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuEventDestroy_v2(CUevent event)
{
    delete reinterpret_cast<Event*>(event);
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuEventRecord(CUevent event, CUstream stream)
{
    RP_ENTER_CONTEXT
    const auto& s = *reinterpret_cast<Stream*>(stream);
    *reinterpret_cast<Event*>(event) = {s.sent, s.done};
    return CUDA_SUCCESS;
}
// Each question moves the work on by one piece.
RP_EXPORT CUresult cuEventQuery(CUevent event)
{
    RP_ENTER_CONTEXT
    const Event e = *reinterpret_cast<Event*>(event);
    if (!e.is_done()) work_once();
    return e.is_done() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
RP_EXPORT CUresult cuEventSynchronize(CUevent event)
{
    RP_ENTER_CONTEXT
    const Event e = *reinterpret_cast<Event*>(event);
    work_until([&] { return e.is_done(); });
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent from, CUevent to)
{
    RP_ENTER_CONTEXT
    *milliseconds =
        static_cast<float>(reinterpret_cast<Event*>(to)->due - reinterpret_cast<Event*>(from)->due) * 1e-3f;
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuModuleLoadData(CUmodule* module, const void* image)
{
    RP_ENTER_CONTEXT
    if (const std::string library = cuda_emulation::library_of(image); !library.empty()) { // made at run time
        const int file = memfd_create("kernel", 0);
        const bool written =
            write(file, library.data(), library.size()) == static_cast<ssize_t>(library.size());
        const std::string path = "/proc/self/fd/" + std::to_string(file);
        const bool opened =
            written && dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); // its kernels make themselves known
        if (!opened)
            return CUDA_ERROR_INVALID_IMAGE; // the file stays: a path that comes again would be the same library
    }
    static int all = 0; // kernels are known by name
    *module = reinterpret_cast<CUmodule>(&all);
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }
RP_EXPORT CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name)
{
    RP_ENTER_CONTEXT
    Kernel* k = cuda_emulation::find_kernel(name);
    *function = reinterpret_cast<CUfunction>(k);
    return k ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
RP_EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes, CUmodule, const char* name)
{
    RP_ENTER_CONTEXT
    const std::string full = name, ending = "_shape";
    if (full.size() < ending.size()) return CUDA_ERROR_NOT_FOUND;
    const Kernel* k = cuda_emulation::find_kernel(full.substr(0, full.size() - ending.size()));
    if (!k) return CUDA_ERROR_NOT_FOUND;
    *address = reinterpret_cast<CUdeviceptr>(&k->shape);
    *bytes = sizeof k->shape;
    return CUDA_SUCCESS;
}

RP_EXPORT CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data)
{
    RP_ENTER_CONTEXT
    send(stream, {.work = [function, data] { function(data); }, .is_on_host = true});
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuLaunchKernel(CUfunction f, unsigned x, unsigned y, unsigned z, unsigned threads,
                                  unsigned, unsigned, unsigned, CUstream stream, void** parameters, void**)
{
    RP_ENTER_CONTEXT
    const Kernel* k = reinterpret_cast<Kernel*>(f);
    if (x == 0 || y != 1 || z != 1 || threads != k->shape.threads) return CUDA_ERROR_INVALID_VALUE;
    send(stream, {[l = launch_of(f, x, parameters)] { run(l); }});
    return CUDA_SUCCESS;
}
