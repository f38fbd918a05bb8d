// What the emulated driver keeps: the work of its streams, and graphs of it.
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
using Ready = std::function<bool()>;

// A piece of work of a stream.
struct Piece {
    Work work;
    Ready is_ready = nullptr; // null: at once.  Another stream or process may be waited for.
    bool is_on_host = false;  // the host's function may call the driver
};

// A place in a stream.
struct Event {
    std::uint64_t due = 0; // pieces of work that have to be done, of these:
    std::shared_ptr<const std::uint64_t> done{};
    bool is_done() const { return !done || *done >= due; }
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
struct Stream {
    std::unique_ptr<Graph> captured{};
    std::deque<Piece> waiting{};
    std::uint64_t sent = 0; // pieces of work
    std::shared_ptr<std::uint64_t> done = std::make_shared<std::uint64_t>(0);
    bool runs = false; // its first piece, on the host
};
struct Executable {
    std::vector<Launch> launches;
    std::vector<std::vector<std::size_t>> after;
};

// One lock for all: the driver may be called from any thread.
struct State {
    std::recursive_mutex mutex;
    std::vector<Stream*> streams;
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

void send(CUstream, Piece);
// Runs the first piece of any stream, in a random order of streams.  Returns false if none is ready.
bool work_once();
void work_until(const std::function<bool()>& is_done); // releases the lock while no piece is ready
void work_until_all_is_done();
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
