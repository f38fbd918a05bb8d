// A libcuda.so.1 without a GPU: one device, whose kernels are those of cuda/ and shaders/ compiled for the host.
//
// Work of a stream is kept back until somebody waits for it or asks whether it is done, so that memory which the host gives
// away or writes too early shows.  A graph's nodes run in any order that its edges allow, another one each time.
//
// Environment: REPRISE_EMULATED_CUDA, words of <name>=<number>: version (of the driver), devices, memory (MiB), major (of
// the compute capability).
#include <cuda.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image.hpp"
#include "kernels.hpp"

namespace {

using cuda_emulation::Kernel;
using Work = std::function<void()>;

struct Event {
    std::uint64_t due = 0; // pieces of work of the stream that have to be done
};

struct Launch {
    Kernel* kernel = nullptr; // null: no kernel's node
    unsigned blocks = 0;
    std::uint64_t record = 0;
    std::vector<unsigned char> constants;
    std::vector<Work> inner; // of a graph inside the graph, or a library's
    bool enabled = true;
};
struct Node {
    Launch launch;
    std::vector<std::size_t> after; // nodes that come first
    std::size_t index = 0;
};
struct Graph {
    std::vector<std::unique_ptr<Node>> nodes;
};
// Of those that do not capture, one is in use: its work stands in State.
struct Stream {
    std::unique_ptr<Graph> captured;
};
struct Executable {
    std::vector<Launch> launches;
    std::vector<std::vector<std::size_t>> after;
};

// One lock for all: the driver may be called from any thread.
struct State {
    std::recursive_mutex mutex;
    std::uint64_t sent = 0, done = 0; // pieces of work, of all streams: there is one in use
    std::deque<Work> waiting;
    std::map<std::uint64_t, std::size_t> memory; // ranges of the device
    std::size_t in_use = 0;
    int contexts = 0;                                         // that are retained
    std::map<std::string, std::pair<int, CUresult>> failures; // by function: countdown, what it then answers
    CUresult sticky = CUDA_SUCCESS;
    std::mt19937 random{1};
};

State& state()
{
    static State s;
    return s;
}

std::uint64_t setting(const char* name, std::uint64_t otherwise)
{
    const char* all = std::getenv("REPRISE_EMULATED_CUDA");
    std::istringstream words(all ? all : "");
    for (std::string word; words >> word;)
        if (word.rfind(std::string(name) + "=", 0) == 0)
            return std::stoull(word.substr(std::strlen(name) + 1));
    return otherwise;
}

std::size_t memory_bytes() { return setting("memory", 6144) << 20; }

void work_until(std::uint64_t due)
{
    State& s = state();
    while (s.done < due) {
        const Work work = std::move(s.waiting.front());
        s.waiting.pop_front();
        work();
        ++s.done;
    }
}

void send(Work work)
{
    State& s = state();
    s.waiting.push_back(std::move(work));
    ++s.sent;
    if (s.waiting.size() > 256) work_until(s.sent - 128);
}

void run(const Launch& l)
{
    if (l.kernel && l.enabled) {
        cuda_emulation::run(*l.kernel, l.blocks, reinterpret_cast<const void*>(l.record), l.constants.data());
    }
    for (const Work& work : l.inner) work();
}

void run(const Executable& e)
{
    std::vector<std::size_t> waits(e.launches.size());
    std::vector<std::vector<std::size_t>> before(e.launches.size());
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < e.launches.size(); ++i) {
        waits[i] = e.after[i].size();
        if (waits[i] == 0) ready.push_back(i);
        for (const std::size_t first : e.after[i]) before[first].push_back(i);
    }
    while (!ready.empty()) {
        const auto libraries = std::count_if(ready.begin(), ready.end(),
                                             [&](std::size_t i) { return !e.launches[i].inner.empty(); });
        if (libraries > 1) state().sticky = CUDA_ERROR_LAUNCH_FAILED; // two at once, in one workspace
        std::swap(ready[state().random() % ready.size()], ready.back());
        const std::size_t i = ready.back();
        ready.pop_back();
        run(e.launches[i]);
        for (const std::size_t next : before[i])
            if (--waits[next] == 0) ready.push_back(next);
    }
}

Launch launch_of(CUfunction f, unsigned blocks, void** parameters)
{
    Launch l;
    l.kernel = reinterpret_cast<Kernel*>(f);
    l.blocks = blocks;
    std::memcpy(&l.record, parameters[0], sizeof l.record);
    constexpr std::size_t constants_bytes = 4 * 25; // rp::Constants
    const auto* bytes = static_cast<const unsigned char*>(parameters[1]);
    l.constants.assign(bytes, bytes + constants_bytes);
    return l;
}

// What a call answers in place of its work, where a test has ordered it or the context is gone.
CUresult refusal(const char* function)
{
    State& s = state();
    if (s.sticky != CUDA_SUCCESS) return s.sticky;
    const auto order = s.failures.find(function);
    if (order == s.failures.end() || --order->second.first > 0) return CUDA_SUCCESS;
    const CUresult result = order->second.second;
    s.failures.erase(order);
    if (result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_FAILED) s.sticky = result;
    return result;
}

} // namespace

#define RP_ENTER                                                                                             \
    const std::lock_guard emulation_lock(state().mutex);                                                     \
    if (const CUresult refused = refusal(__func__); refused != CUDA_SUCCESS) return refused;
#define RP_EXPORT extern "C" __attribute__((visibility("default")))

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
// What a library that is not the driver asks of it: the answer that a test has ordered, and a place in a stream's order.
RP_EXPORT int reprise_emulated_cuda_refusal(const char* function)
{
    const std::lock_guard lock(state().mutex);
    return static_cast<int>(refusal(function));
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
    send(std::move(work));
}
// At the process's end, in the folder REPRISE_EMULATED_CUDA_KERNELS, a file of "<kernel> <launches>" lines.
namespace {
struct Report {
    ~Report()
    {
        const char* folder = std::getenv("REPRISE_EMULATED_CUDA_KERNELS");
        if (!folder) return;
        std::ofstream out(std::string(folder) + "/" + std::to_string(getpid()) + ".txt");
        for (const Kernel* k : cuda_emulation::all_kernels()) {
            const bool made =
                k->name.rfind("fused_", 0) == 0 || k->name.rfind("user_", 0) == 0; // at run time
            if (!made) out << k->name << ' ' << k->launches << '\n';
        }
    }
};
} // namespace

// -- the driver --

RP_EXPORT CUresult cuInit(unsigned)
{
    RP_ENTER
    cuda_emulation::all_kernels(); // made before the report, so they outlive it
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

RP_EXPORT CUresult cuGetErrorString(CUresult error, const char** text) { return cuGetErrorName(error, text); }

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
    work_until(s.sent);
    for (const auto& [address, bytes] : s.memory) std::free(reinterpret_cast<void*>(address));
    s.memory.clear();
    s.in_use = 0;
    return CUDA_SUCCESS;
}

// A thread without a current context can't call what needs one.
namespace {
thread_local int current = 0;
}
#define RP_ENTER_CONTEXT                                                                                     \
    RP_ENTER                                                                                                 \
    if (current == 0) return CUDA_ERROR_INVALID_CONTEXT;

RP_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext)
{
    ++current;
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuCtxPopCurrent_v2(CUcontext*)
{
    --current;
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
    work_until(s.sent); // as the driver: freeing waits for the device
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
    work_until(state().sent);
    std::free(host);
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* host, unsigned)
{
    RP_ENTER_CONTEXT
    *address = reinterpret_cast<CUdeviceptr>(host);
    return CUDA_SUCCESS;
}

RP_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream)
{
    RP_ENTER_CONTEXT
    send([=] { std::memcpy(reinterpret_cast<void*>(to), from, bytes); });
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream)
{
    RP_ENTER_CONTEXT
    send([=] { std::memcpy(to, reinterpret_cast<const void*>(from), bytes); });
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
    *stream = reinterpret_cast<CUstream>(new Stream);
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuStreamDestroy_v2(CUstream stream)
{
    const std::lock_guard lock(state().mutex);
    work_until(state().sent);
    delete reinterpret_cast<Stream*>(stream);
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuStreamSynchronize(CUstream)
{
    RP_ENTER_CONTEXT
    work_until(state().sent);
    return CUDA_SUCCESS;
}

RP_EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode)
{
    RP_ENTER_CONTEXT
    auto* s = reinterpret_cast<Stream*>(stream);
    if (s->captured) return CUDA_ERROR_ILLEGAL_STATE;
    s->captured = std::make_unique<Graph>();
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph)
{
    RP_ENTER_CONTEXT
    auto* s = reinterpret_cast<Stream*>(stream);
    if (!s->captured) return CUDA_ERROR_ILLEGAL_STATE;
    *graph = reinterpret_cast<CUgraph>(s->captured.release());
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
RP_EXPORT CUresult cuEventRecord(CUevent event, CUstream)
{
    RP_ENTER_CONTEXT
    reinterpret_cast<Event*>(event)->due = state().sent;
    return CUDA_SUCCESS;
}
// Each question moves the work on by one piece.
RP_EXPORT CUresult cuEventQuery(CUevent event)
{
    RP_ENTER_CONTEXT
    State& s = state();
    const std::uint64_t due = reinterpret_cast<Event*>(event)->due;
    if (s.done < due) work_until(s.done + 1);
    return s.done >= due ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
RP_EXPORT CUresult cuEventSynchronize(CUevent event)
{
    RP_ENTER_CONTEXT
    work_until(reinterpret_cast<Event*>(event)->due);
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

RP_EXPORT CUresult cuLaunchKernel(CUfunction f, unsigned x, unsigned y, unsigned z, unsigned threads,
                                  unsigned, unsigned, unsigned, CUstream, void** parameters, void**)
{
    RP_ENTER_CONTEXT
    const Kernel* k = reinterpret_cast<Kernel*>(f);
    if (x == 0 || y != 1 || z != 1 || threads != k->shape.threads) return CUDA_ERROR_INVALID_VALUE;
    send([l = launch_of(f, x, parameters)] { run(l); });
    return CUDA_SUCCESS;
}

RP_EXPORT CUresult cuGraphCreate(CUgraph* graph, unsigned)
{
    RP_ENTER_CONTEXT
    *graph = reinterpret_cast<CUgraph>(new Graph);
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuGraphDestroy(CUgraph graph)
{
    delete reinterpret_cast<Graph*>(graph);
    return CUDA_SUCCESS;
}

namespace {

CUgraphNode add_node(CUgraph graph, const CUgraphNode* after, std::size_t count, Launch launch)
{
    auto* g = reinterpret_cast<Graph*>(graph);
    auto node = std::make_unique<Node>();
    node->launch = std::move(launch);
    node->index = g->nodes.size();
    for (std::size_t i = 0; i < count; ++i) node->after.push_back(reinterpret_cast<Node*>(after[i])->index);
    g->nodes.push_back(std::move(node));
    return reinterpret_cast<CUgraphNode>(g->nodes.back().get());
}

} // namespace

RP_EXPORT CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                           std::size_t count, const CUDA_KERNEL_NODE_PARAMS* p)
{
    RP_ENTER_CONTEXT
    if (p->gridDimX == 0) return CUDA_ERROR_INVALID_VALUE;
    *node = add_node(graph, after, count, launch_of(p->func, p->gridDimX, p->kernelParams));
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                       std::size_t count)
{
    RP_ENTER_CONTEXT
    *node = add_node(graph, after, count, {});
    return CUDA_SUCCESS;
}
namespace {

// The nodes of a captured stream stand in a row.
Launch launch_of(CUgraph inner)
{
    Launch l;
    for (const auto& node : reinterpret_cast<Graph*>(inner)->nodes)
        l.inner.insert(l.inner.end(), node->launch.inner.begin(), node->launch.inner.end());
    return l;
}

} // namespace

RP_EXPORT CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                            std::size_t count, CUgraph inner)
{
    RP_ENTER_CONTEXT
    *node = add_node(graph, after, count, launch_of(inner));
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraph inner)
{
    RP_ENTER_CONTEXT
    Launch& l = reinterpret_cast<Executable*>(executable)->launches[reinterpret_cast<Node*>(node)->index];
    Launch next = launch_of(inner);
    if (l.kernel || next.inner.size() != l.inner.size()) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    l.inner = std::move(next.inner);
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long)
{
    RP_ENTER_CONTEXT
    auto e = std::make_unique<Executable>();
    for (const auto& node : reinterpret_cast<Graph*>(graph)->nodes) {
        e->launches.push_back(node->launch);
        e->after.push_back(node->after);
    }
    *executable = reinterpret_cast<CUgraphExec>(e.release());
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuGraphExecDestroy(CUgraphExec executable)
{
    delete reinterpret_cast<Executable*>(executable);
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node,
                                                     const CUDA_KERNEL_NODE_PARAMS* p)
{
    RP_ENTER_CONTEXT
    if (p->gridDimX == 0) return CUDA_ERROR_INVALID_VALUE;
    Launch& l = reinterpret_cast<Executable*>(executable)->launches[reinterpret_cast<Node*>(node)->index];
    if (!l.kernel) return CUDA_ERROR_INVALID_VALUE;
    const bool enabled = l.enabled;
    l = launch_of(p->func, p->gridDimX, p->kernelParams);
    l.enabled = enabled;
    return CUDA_SUCCESS;
}
RP_EXPORT CUresult cuGraphNodeSetEnabled(CUgraphExec executable, CUgraphNode node, unsigned enabled)
{
    RP_ENTER_CONTEXT
    reinterpret_cast<Executable*>(executable)->launches[reinterpret_cast<Node*>(node)->index].enabled =
        enabled != 0;
    return CUDA_SUCCESS;
}
// What is changed later counts for later launches.
RP_EXPORT CUresult cuGraphLaunch(CUgraphExec executable, CUstream)
{
    RP_ENTER_CONTEXT
    send([e = *reinterpret_cast<Executable*>(executable)] { run(e); });
    return CUDA_SUCCESS;
}
