// What the emulated driver keeps: its work, in the order in which it was sent, and graphs of it.
#pragma once
#include <cuda.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels.hpp"

namespace cuda_emulation {

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
State& state();

// Of the environment's words.
std::uint64_t setting(const char* name, std::uint64_t otherwise);

void send(Work);
void work_until(std::uint64_t due);
void run(const Launch&);
void run(const Executable&);
Launch launch_of(CUfunction, unsigned blocks, void** parameters);

// What a call answers in place of its work, where a test has ordered it or the context is gone.
CUresult refusal(const char* function);

// A thread without a current context can't call what needs one.
inline thread_local int current_contexts = 0;

} // namespace cuda_emulation

#define RP_EXPORT extern "C" __attribute__((visibility("default")))
#define RP_ENTER                                                                                             \
    const std::lock_guard emulation_lock(cuda_emulation::state().mutex);                                     \
    if (const CUresult refused = cuda_emulation::refusal(__func__); refused != CUDA_SUCCESS) return refused;
#define RP_ENTER_CONTEXT                                                                                     \
    RP_ENTER                                                                                                 \
    if (cuda_emulation::current_contexts == 0) return CUDA_ERROR_INVALID_CONTEXT;
