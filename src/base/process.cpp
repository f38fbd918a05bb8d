#include "base/process.hpp"

#include <atomic>
#include <cstdlib>

namespace reprise {

namespace {

std::atomic<bool> reads_environment{true};
std::atomic<bool> starts_threads{true};

} // namespace

void set_process_options(const ProcessOptions& options)
{
    reads_environment = options.environment;
    starts_threads = options.threads;
}

namespace detail {

std::optional<std::string> environment_variable(const char* name)
{
    if (!reads_environment) return std::nullopt;
    const char* const value = std::getenv(name);
    return value ? std::optional<std::string>(value) : std::nullopt;
}

bool may_start_threads() noexcept { return starts_threads; }

} // namespace detail

} // namespace reprise
