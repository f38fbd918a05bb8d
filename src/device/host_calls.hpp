// The thread in which the host computes launches (LaunchDeclaration::on_host), one after the other.  It begins with the
// first one.
#pragma once
#include "device/health.hpp"
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace reprise::device {

class HostCalls {
public:
    explicit HostCalls(Health& health) : health_(health) {}
    ~HostCalls(); // waits until all calls have ended
    HostCalls(const HostCalls&) = delete;
    HostCalls& operator=(const HostCalls&) = delete;

    struct Call {
        std::function<void()> await{};    // waits until the operands are written; may throw
        std::function<void()> run{};      // not run if the device is lost; null: nothing is left to do
        std::function<void()> finished{}; // always runs; must not throw
    };
    void start(); // the thread, so that post() can't fail for lack of one
    void post(Call);
    std::uint64_t posted() const;           // the number of calls so far
    bool served(std::uint64_t calls) const; // whether the first `calls` have ended
    void wait(std::uint64_t calls) const;   // until they have
    void wait() const { wait(posted()); }

private:
    void work();
    void serve(const Call&) noexcept;

    Health& health_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::deque<Call> calls_; // that wait
    std::uint64_t posted_ = 0, served_ = 0;
    bool ends_ = false;
    std::thread thread_;
};

// The arguments of a host call, copied, with the addresses of its operands on the host.
struct HostArguments {
    std::vector<Operand> operands{};
    std::vector<double> floats{};
    std::vector<std::int32_t> ints{};
    std::uint64_t groups = 0;

    void assign(const LaunchArguments&);
    LaunchArguments view() const { return {operands, floats, ints, groups}; }
};

} // namespace reprise::device
