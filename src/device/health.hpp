// Tracks whether a device is alive, and the failures that tests inject.  Each kind of device has one.
#pragma once
#include "device/device.hpp"
#include <atomic>
#include <mutex>
#include <optional>
#include <reprise/error.hpp>
#include <string_view>

namespace reprise::device {

class Health {
public:
    void fail_next(const std::string& kind, std::uint32_t n, Device::Fault);
    void clear_faults();
    // Counts one driver call of this kind, and returns the failure that it must show, if any.
    std::optional<Device::Fault> injected(std::string_view kind)
    {
        return armed_.load(std::memory_order_relaxed) ? count(kind) : std::nullopt;
    }
    // For devices without a driver: throws the injected failure.
    void pass(std::string_view kind, const char* op);

    bool lost() const noexcept { return lost_.load(std::memory_order_acquire); }
    void set_lost() noexcept { lost_.store(true, std::memory_order_release); }
    // Marks the device as closed by its user, permanently: every later require_alive() fails, and its error says so.
    void set_closed() noexcept
    {
        closed_.store(true, std::memory_order_release);
        set_lost();
    }
    // Marks the device as lost because a host call has thrown this: every later require_alive() throws it, too.
    void set_failed(const Error&) noexcept;
    bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
    void require_alive(const char* op) const
    {
        if (lost()) {
            fail_dead(op);
        }
    }
    [[noreturn]] static void fail_lost(const char* op);
    [[noreturn]] static void fail_closed(const char* op);

private:
    struct Injection {
        std::string kind;
        std::uint32_t remaining;
        Device::Fault fault;
    };
    [[noreturn]] void fail_dead(const char* op) const;
    std::optional<Device::Fault> count(std::string_view kind);

    mutable std::mutex mutex_;
    std::optional<Error> failure_; // of a host call
    std::vector<Injection> injections_;
    std::atomic<bool> armed_ = false;
    std::atomic<bool> lost_ = false, closed_ = false;
};

// Implements the members that are the same on all devices.
class DeviceWithHealth : public Device {
public:
    void fail_next(const std::string& kind, std::uint32_t n, Fault fault) override
    {
        health().fail_next(kind, n, fault);
    }
    void clear_faults() override { health().clear_faults(); }
    bool lost() const override { return health().lost(); }

protected:
    virtual Health& health() const = 0;
};

// Throws Error(internal): a recording's submit() was called before set() for each launch.
[[noreturn]] void fail_unset(std::size_t set, std::size_t launches);

} // namespace reprise::device
