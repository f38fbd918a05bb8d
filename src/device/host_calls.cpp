#include "device/host_calls.hpp"

namespace reprise::device {

HostCalls::~HostCalls()
{
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    posted_.notify_one();
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
    }
    posted_.notify_one();
}

void HostCalls::wait()
{
    std::unique_lock lock(mutex_);
    served_.wait(lock, [&] { return calls_.empty(); });
}

void HostCalls::work()
{
    std::unique_lock lock(mutex_);
    for (;;) {
        posted_.wait(lock, [&] { return ends_ || !calls_.empty(); });
        if (calls_.empty()) return;
        const Call& call = calls_.front();
        lock.unlock();
        serve(call);
        lock.lock();
        calls_.pop_front();
        served_.notify_all();
    }
}

void HostCalls::serve(const Call& call) noexcept
{
    try {
        if (call.await) call.await();
        if (!health_.lost()) call.run();
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
