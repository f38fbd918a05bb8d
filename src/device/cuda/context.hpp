// An open device: its primary context, its streams, and the checker of driver calls.
#pragma once
#include "device/cuda/error.hpp"
#include <atomic>
#include <memory>

namespace reprise::device::cuda {

class Context {
public:
    Context(const Driver&, int ordinal);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    CUstream stream() const noexcept { return stream_; } // of all launches but stream calls
    // Both require the current context, and the queue's lock.
    CUstream stream_of_calls();
    void wait_for_stream_of_calls() const noexcept;
    void abandon() noexcept { abandoned_ = true; } // leaves its objects to the operating system
    bool abandoned() const noexcept { return abandoned_; }

    const Driver& driver;
    Health health;
    const Checker check;
    // Calls a function of the driver through the checker, without injected failures.
    template <class Function, class... Arguments>
    CUresult call(const char* name, Function Driver::*function, Arguments... arguments) const
    {
        return check("", name, [&] { return (driver.*function)(arguments...); });
    }

    // Makes the context current on the calling thread for a scope.
    class Current {
    public:
        explicit Current(const Context&) noexcept;
        ~Current();
        Current(const Current&) = delete;
        Current& operator=(const Current&) = delete;

    private:
        const Context& context_;
        bool pushed_;
    };

private:
    CUdevice device_ = 0;
    CUcontext context_ = nullptr;
    CUstream stream_ = nullptr, stream_of_calls_ = nullptr; // the second one from its first use on
    std::atomic<bool> abandoned_ = false;
};

} // namespace reprise::device::cuda
