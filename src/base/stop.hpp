// Cancelling long work through a std::stop_token.
#pragma once
#include <stop_token>

#include <reprise/error.hpp>

namespace reprise::detail {

// Throws Error(cancelled) once a stop is requested.  `by`: the name that the error uses.
inline void check_stop(const std::stop_token& stop, const char* by)
{
    if (stop.stop_requested()) fail(ErrorKind::cancelled, by, "The work was cancelled by its stop token.");
}

} // namespace reprise::detail
