#include "device/host_calls.hpp"

namespace reprise::device {

HostCalls::~HostCalls()
{
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void HostCalls::start()
{
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
}

void HostCalls::post(Call call)
{
    start();
    {
        const std::lock_guard lock(mutex_);
        calls_.push_back(std::move(call));
        ++posted_;
    }
    changed_.notify_all();
}

std::uint64_t HostCalls::posted() const
{
    const std::lock_guard lock(mutex_);
    return posted_;
}

bool HostCalls::served(std::uint64_t calls) const
{
    const std::lock_guard lock(mutex_);
    return served_ >= calls;
}

void HostCalls::wait(std::uint64_t calls) const
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return served_ >= calls; });
}

void HostCalls::work()
{
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return ends_ || !calls_.empty(); });
        if (calls_.empty()) return;
        {
            const Call call = std::move(calls_.front());
            calls_.pop_front();
            lock.unlock();
            serve(call);
        }
        lock.lock();
        ++served_;
        changed_.notify_all();
    }
}

void HostCalls::serve(const Call& call) noexcept
{
    try {
        if (call.await) call.await();
        if (call.run && !health_.lost()) call.run();
    } catch (const Error& error) {
        if (!health_.lost()) health_.set_failed(error);
    } catch (const std::exception& error) {
        health_.set_failed(Error(ErrorKind::device, std::string("[host call] ") + error.what()));
    } catch (...) {
        health_.set_failed(
            Error(ErrorKind::device, "[host call] The function has thrown no std::exception."));
    }
    if (call.finished) call.finished();
}

void HostArguments::assign(const LaunchArguments& a)
{
    operands.assign(a.operands.begin(), a.operands.end());
    floats.assign(a.floats.begin(), a.floats.end());
    ints.assign(a.ints.begin(), a.ints.end());
    groups = a.groups;
}

} // namespace reprise::device
