#include "base/process.hpp"

#include <atomic>
#include <cstdlib>

#if defined(_WIN32)
#include <filesystem>

#include <reprise/path_text.hpp>
#endif

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
#if defined(_WIN32) // getenv() would return the code page's text
    const wchar_t* const value = _wgetenv(std::filesystem::path(name).c_str());
    return value ? std::optional<std::string>(path_text(value)) : std::nullopt;
#else
    const char* const value = std::getenv(name);
    return value ? std::optional<std::string>(value) : std::nullopt;
#endif
}

bool may_start_threads() noexcept { return starts_threads; }

} // namespace detail

} // namespace reprise
