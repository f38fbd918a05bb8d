#include "base/log.hpp"

#include <atomic>
#include <mutex>
#include <utility>

namespace reprise {

namespace {

constexpr int silent = static_cast<int>(LogLevel::warning) + 1;

struct Log {
    std::mutex mutex; // guards `function`, and lets one thread at a time call it
    LogFunction function;
    std::atomic<int> least = silent;
};

Log& current()
{
    static Log& log = *new Log; // never destroyed: devices that live until the process ends may log
    return log;
}

} // namespace

void set_log(LogFunction function, LogLevel least)
{
    Log& log = current();
    const std::lock_guard lock(log.mutex);
    std::swap(log.function, function);
    log.least.store(log.function ? static_cast<int>(least) : silent, std::memory_order_relaxed);
}

namespace detail {

bool logs(LogLevel level) noexcept
{
    return static_cast<int>(level) >= current().least.load(std::memory_order_relaxed);
}

void log_message(LogLevel level, const std::string& message) noexcept
{
    Log& log = current();
    try {
        const std::lock_guard lock(log.mutex);
        if (logs(level)) log.function(level, message); // it may have been replaced since the caller looked
    } catch (...) {                                    // the library's work goes on
    }
}

} // namespace detail
} // namespace reprise
