// Messages for the function that the application has set (reprise/log.hpp).
#pragma once
#include <chrono>
#include <ostream>
#include <sstream>
#include <string>

#include <reprise/log.hpp>

namespace reprise::detail {

bool logs(LogLevel) noexcept; // whether a function receives messages of the level
void log_message(LogLevel, const std::string& message) noexcept;

// Prints the milliseconds since it was made.
class Stopwatch {
public:
    friend std::ostream& operator<<(std::ostream& out, const Stopwatch& watch)
    {
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - watch.start_;
        return out << took.count() << " ms";
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Joins the parts to a message if a function receives it.
template <class... Parts> void log(LogLevel level, const Parts&... parts) noexcept
{
    if (!logs(level)) return;
    try {
        std::ostringstream text;
        (text << ... << parts);
        log_message(level, text.str());
    } catch (...) { // no memory for the message
    }
}

} // namespace reprise::detail
