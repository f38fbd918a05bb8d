// A communicator of NCCL, which is loaded at run time.
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include <reprise/dtype.hpp>
#include <reprise/error.hpp>

#include "device/device.hpp"

namespace reprise::distributed {

struct NcclId {
    std::array<char, 128> bytes{};
};

// Thread-safe.  Communicators are nonblocking, so that another thread can end a call for which a rank is missing.
class Nccl {
public:
    using Limit = std::chrono::milliseconds;

    static std::string version(); // "2.27.3"; Error(unsupported) where NCCL can't be loaded
    static NcclId make_id();
    // Connects this rank to all others.  Error(distributed) if NCCL fails, or takes longer than the limit.
    Nccl(const NcclId&, int rank, int size, const std::shared_ptr<device::Device>&, Limit);
    ~Nccl() { close(); }
    Nccl(const Nccl&) = delete;
    Nccl& operator=(const Nccl&) = delete;

    // Each adds to the stream, with the device's context current.  The first ones may wait for other ranks, to connect
    // to them.  `count` is that of elements, `bytes` that of x.  Error(distributed) if NCCL fails or takes longer than
    // the limit, after which the communicator is aborted.
    struct Queue {
        void* stream;
        Limit limit;
    };
    void all_reduce(const std::byte* x, std::byte* y, std::size_t count, DType, int reduction, Queue);
    void reduce_scatter(const std::byte* x, std::byte* y, std::size_t count_of_y, DType, int reduction,
                        Queue);
    void broadcast(const std::byte* x, std::byte* y, std::size_t bytes, int root, Queue);
    void all_gather(const std::byte* x, std::byte* y, std::size_t bytes, Queue);
    // Sends and receives of empty ranges are left out.
    struct Transfer {
        int rank;
        std::span<const std::byte> send;
        std::span<std::byte> receive;
    };
    void exchange(std::span<const Transfer>, Queue);

    void require_sound(); // throws the first failure, also one that NCCL has met since the last call
    // Ends what is on the stream, in another thread; from now on all members throw the error, or that of an earlier
    // failure.
    void abort(const Error&) noexcept;
    // Ends the communicator, in another thread, once all ranks do, or after two seconds.  Nothing may be on the stream.
    void close() noexcept;
    static void wait_until_closed() noexcept; // for all that abort() and close() have begun

private:
    // Calls f with the communicator, and waits until NCCL has done it.
    void run(const char* function, Limit, const std::function<int(void* communicator)>& f);
    void await(const char* function, Limit, int result); // aborts before it throws
    void check(const char* function, int result);        // with the mutex
    int state();                                         // with the mutex
    void end(void (*how)(void* communicator)) noexcept;  // with the mutex

    const std::weak_ptr<device::Device> device_;
    std::mutex mutex_;             // guards the rest; one thread at a time may make calls of a communicator
    void* communicator_ = nullptr; // null: aborted or closed
    std::optional<Error> failure_;
};

} // namespace reprise::distributed
