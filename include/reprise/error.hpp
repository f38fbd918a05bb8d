// The one exception type of the library.
#pragma once
#include <sstream>
#include <stdexcept>
#include <string>

#include <reprise/cold.hpp>

namespace reprise {

// What went wrong, for a program to decide on.
enum class ErrorKind {
    shape,         // sizes do not fit
    dtype,         // an element type that the op does not take
    device,        // tensors on different devices, or a device that can't be had
    argument,      // any other argument out of its range
    state,         // a call that is not allowed now (backward twice, reading while recording, ...)
    file,          // missing, truncated or malformed files
    out_of_memory, // the device's memory or its limit; the process stays usable
    device_lost,   // the device is gone; others work, reset() makes a new one
    unsupported,   // a capability that the device lacks
    internal,      // a broken invariant of the library: please report it
};

// what() is a sentence: "[op] The values (3 and 4) ...: what to do."
class Error : public std::runtime_error {
public:
    // For the library and for functions that it calls; the sentence is what() as it stands.
    Error(ErrorKind kind, const std::string& sentence) : std::runtime_error(sentence), kind_(kind) {}
    ErrorKind kind() const noexcept { return kind_; } // as it was thrown with

private:
    ErrorKind kind_;
};

namespace detail {
// "[op] Sentence with (values) and what to do."
template <class... Parts>
[[noreturn]] REPRISE_COLD void fail(ErrorKind kind, const char* op, const Parts&... parts)
{
    std::ostringstream text;
    text << "[" << op << "] ";
    (text << ... << parts);
    throw Error(kind, text.str());
}
} // namespace detail
} // namespace reprise
