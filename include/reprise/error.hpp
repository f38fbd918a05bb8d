// The one exception type of the library.
#pragma once
#include <sstream>
#include <stdexcept>
#include <string>

namespace reprise {

// The kind of an error, so that programs can handle it.
enum class ErrorKind {
    shape,         // shapes or sizes that do not fit
    dtype,         // an element type that the op does not support
    device,        // tensors on different devices, or a device that is not available
    argument,      // another argument that is out of range
    state,         // a call that is not allowed now (backward twice, reading while recording, ...)
    file,          // missing, truncated or malformed files
    out_of_memory, // the device's memory or its limit; the process stays usable
    device_lost,   // the device is lost; other devices work, and reset_device() allows opening it again
    unsupported,   // a capability that the device lacks
    distributed,   // another rank of a world is gone, late, or computes something else
    cancelled,     // Device::cancel() or RecordOptions::stop ended the work; its results do not exist
    internal,      // a bug in the library: please report it
};

// The exception that the library throws.  what() is a sentence: "[op] The values (3 and 4) ...: what to do."
class Error : public std::runtime_error {
public:
    // For the library and for functions that it calls; `sentence` is the text of what().
    Error(ErrorKind kind, const std::string& sentence) : std::runtime_error(sentence), kind_(kind) {}
    ErrorKind kind() const noexcept { return kind_; } // the kind of the error

private:
    ErrorKind kind_;
};

namespace detail {
// Throws an Error with the text "[op] Sentence with (values) and what to do."
template <class... Parts> [[noreturn]] void fail(ErrorKind kind, const char* op, const Parts&... parts)
{
    std::ostringstream text;
    text << "[" << op << "] ";
    (text << ... << parts);
    throw Error(kind, text.str());
}
} // namespace detail
} // namespace reprise
