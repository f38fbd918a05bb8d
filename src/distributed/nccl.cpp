#include "distributed/nccl.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <reprise/distributed/collectives.hpp>
#include <reprise/error.hpp>

#include "base/library.hpp"

namespace reprise::distributed {

namespace {

#ifdef _WIN32
constexpr const char* library_name = "nccl.dll";
#else
constexpr const char* library_name = "libnccl.so.2";
#endif

struct Functions {
#define RP_NCCL_FUNCTION(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
#include "distributed/nccl_functions.def"
#undef RP_NCCL_FUNCTION
};

// Returns a string that says why NCCL can't be used.
std::variant<Functions, std::string> load()
{
    const detail::Library library({library_name});
    if (!library) return "NCCL was not found: " + library.error();
    Functions f;
    std::string missing;
#define RP_NCCL_FUNCTION(name, ...)                                                                          \
    f.name = library.find<__VA_ARGS__>(#name);                                                               \
    if (!f.name && missing.empty()) missing = #name;
#include "distributed/nccl_functions.def"
#undef RP_NCCL_FUNCTION
    if (!missing.empty()) return "The NCCL that was found has no " + missing + ": install a newer one";
    return f;
}

const Functions& nccl()
{
    static const std::variant<Functions, std::string> loaded = load();
    if (const std::string* refusal = std::get_if<std::string>(&loaded))
        detail::fail(ErrorKind::unsupported, "use_nccl", *refusal, ".");
    return std::get<Functions>(loaded);
}

// The first form of ncclConfig_t (NCCL 2.14), which all later ones accept.
struct Config {
    std::size_t size = sizeof(Config);
    unsigned magic = 0xcafebeef;
    unsigned version = 21400;
    int is_blocking = 0;
};

enum Result { success = 0, in_progress = 7 }; // of ncclResult_t

[[noreturn]] void fail(const char* function, const std::string& what)
{
    detail::fail(ErrorKind::distributed, function, what,
                 " (NCCL_DEBUG=WARN prints more): start all ranks again.");
}

constexpr int byte_type = 1; // ncclUint8

int type_of(DType dtype) // ncclDataType_t
{
    switch (dtype) {
    case DType::i8: return 0;
    case DType::u8: return byte_type;
    case DType::i32: return 2;
    case DType::i64: return 4;
    case DType::f16: return 6;
    case DType::f32: return 7;
    case DType::f64: return 8;
    case DType::bf16: return 9;
    case DType::i16:
    case DType::boolean: break;
    }
    detail::fail(ErrorKind::internal, "nccl", "NCCL has no numbers of ", name_of(dtype), ".");
}

int op_of(int reduction) // ncclRedOp_t
{
    switch (static_cast<ReduceOp>(reduction)) {
    case ReduceOp::product: return 1;
    case ReduceOp::max: return 2;
    case ReduceOp::min: return 3;
    case ReduceOp::sum:
    case ReduceOp::mean: break;
    }
    return 0;
}

} // namespace

std::string Nccl::version()
{
    int v = 0;
    nccl().ncclGetVersion(&v);
    return std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." + std::to_string(v % 100);
}

NcclId Nccl::make_id()
{
    NcclId id;
    if (const int result = nccl().ncclGetUniqueId(&id))
        fail("ncclGetUniqueId", std::string("NCCL has failed: ") + nccl().ncclGetErrorString(result));
    return id;
}

Nccl::Nccl(const NcclId& id, int rank, int size, const std::shared_ptr<device::Device>& device, Limit limit)
    : device_(device)
{
    Config config;
    int result = success;
    device->with_context(
        [&] { result = nccl().ncclCommInitRankConfig(&communicator_, size, id, rank, &config); });
    await("ncclCommInitRankConfig", limit, result);
}

void Nccl::run(const char* function, Limit limit, const std::function<int(void*)>& f)
{
    int result = success;
    {
        const std::lock_guard lock(mutex_);
        if (failure_) throw *failure_;
        result = f(communicator_);
    }
    await(function, limit, result);
}

void Nccl::await(const char* function, Limit limit, int result)
{
    const auto begin = std::chrono::steady_clock::now();
    try {
        for (;;) {
            {
                const std::lock_guard lock(mutex_);
                check(function, result);
                if (result == success) return;
                result = state();
            }
            const auto waited = std::chrono::steady_clock::now() - begin;
            if (result == in_progress && waited > limit)
                fail(function, "NCCL has not connected the ranks within (" + std::to_string(limit.count()) +
                                   ") ms: one of them or the network is gone");
            if (waited < std::chrono::milliseconds(1)) std::this_thread::yield();
            else std::this_thread::sleep_for(std::chrono::microseconds(50)); // other ranks are waited for
        }
    } catch (const Error& e) {
        abort(e);
        throw;
    }
}

void Nccl::check(const char* function, int result)
{
    if (result == success || result == in_progress) return;
    const char* details = communicator_ ? nccl().ncclGetLastError(communicator_) : nullptr;
    std::string what = std::string("NCCL has failed: ") + nccl().ncclGetErrorString(result);
    if (details && *details) what += std::string(", ") + details;
    fail(function, what);
}

int Nccl::state()
{
    if (failure_) throw *failure_;
    int state = success;
    check("ncclCommGetAsyncError", nccl().ncclCommGetAsyncError(communicator_, &state));
    check("NCCL", state);
    return state;
}

void Nccl::require_sound()
{
    const std::lock_guard lock(mutex_);
    state();
}

namespace {

// Threads that end communicators: NCCL then waits for the device, which may wait for the thread that has asked for it.
class Endings {
public:
    void begin(std::function<void()> f)
    {
        {
            const std::lock_guard lock(mutex_);
            ++running_;
        }
        const auto run = [this, f = std::move(f)] {
            f();
            const std::lock_guard lock(mutex_);
            --running_;
            ended_.notify_all();
        };
        try {
            std::thread(run).detach();
        } catch (const std::system_error&) { // no thread is left
            run();
        }
    }
    void wait()
    {
        std::unique_lock lock(mutex_);
        ended_.wait(lock, [&] { return running_ == 0; });
    }

private:
    std::mutex mutex_;
    std::condition_variable ended_;
    int running_ = 0;
};

Endings& endings()
{
    static Endings* const all = new Endings; // outlives the threads
    return *all;
}

void abort_now(void* communicator) { nccl().ncclCommAbort(communicator); }

// The other ranks may still read what this one has sent, which finalizing waits for.
void finalize(void* communicator)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    int state = nccl().ncclCommFinalize(communicator);
    while (state == in_progress && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (nccl().ncclCommGetAsyncError(communicator, &state) != success) break;
    }
    if (state == success) nccl().ncclCommDestroy(communicator);
    else nccl().ncclCommAbort(communicator);
}

} // namespace

void Nccl::end(void (*how)(void*)) noexcept
{
    if (!communicator_) return;
    endings().begin([how, c = std::exchange(communicator_, nullptr), device = device_] {
        try {
            if (const auto d = device.lock()) d->with_context([&] { how(c); });
            else how(c);
        } catch (const Error&) { // the device was closed, and NCCL's memory with it
        }
    });
}

void Nccl::abort(const Error& why) noexcept
{
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = why;
    end(abort_now);
}

void Nccl::close() noexcept
{
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_.emplace(ErrorKind::state, "[NCCL] The world has ended.");
    end(finalize);
}

void Nccl::wait_until_closed() noexcept { endings().wait(); }

void Nccl::all_reduce(const std::byte* x, std::byte* y, std::size_t count, DType dtype, int reduction,
                      Queue q)
{
    run("ncclAllReduce", q.limit, [&](void* c) {
        return nccl().ncclAllReduce(x, y, count, type_of(dtype), op_of(reduction), c, q.stream);
    });
}

void Nccl::reduce_scatter(const std::byte* x, std::byte* y, std::size_t count_of_y, DType dtype,
                          int reduction, Queue q)
{
    run("ncclReduceScatter", q.limit, [&](void* c) {
        return nccl().ncclReduceScatter(x, y, count_of_y, type_of(dtype), op_of(reduction), c, q.stream);
    });
}

void Nccl::broadcast(const std::byte* x, std::byte* y, std::size_t bytes, int root, Queue q)
{
    run("ncclBroadcast", q.limit,
        [&](void* c) { return nccl().ncclBroadcast(x, y, bytes, byte_type, root, c, q.stream); });
}

void Nccl::all_gather(const std::byte* x, std::byte* y, std::size_t bytes, Queue q)
{
    run("ncclAllGather", q.limit,
        [&](void* c) { return nccl().ncclAllGather(x, y, bytes, byte_type, c, q.stream); });
}

void Nccl::exchange(std::span<const Transfer> transfers, Queue q)
{
    run("ncclGroupEnd", q.limit, [&](void* c) {
        int result = nccl().ncclGroupStart();
        const auto add = [&](int r) { result = result == success || result == in_progress ? r : result; };
        for (const Transfer& t : transfers) {
            if (!t.send.empty())
                add(nccl().ncclSend(t.send.data(), t.send.size(), byte_type, t.rank, c, q.stream));
            if (!t.receive.empty())
                add(nccl().ncclRecv(t.receive.data(), t.receive.size(), byte_type, t.rank, c, q.stream));
        }
        add(nccl().ncclGroupEnd());
        return result;
    });
}

} // namespace reprise::distributed
