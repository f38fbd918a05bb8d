// Messages of the library, for an application's own log.  The library itself prints nothing.
#pragma once
#include <functional>
#include <string>

namespace reprise {

// How much a message matters.
enum class LogLevel {
    debug, // each kernel that is compiled or read from the cache on disk, each block of device memory
    info,  // devices that are opened or refused, programs that are recorded, calls that are cancelled
    warning, // results that a driver is known to compute wrongly, and what costs time, such as an unusable cache
};

// Takes a message: one or more whole sentences, without a line break at the end.
using LogFunction = std::function<void(LogLevel, const std::string& message)>;

// Sets the function that receives the messages of at least the level `least`; an empty function, which is the default,
// receives none.  It is called on the thread that does the work, by one thread at a time, while locks of the library
// are held: it must not call the library, nor wait for a thread that does, nor lock a mutex that such a thread holds.
// What it throws is ignored.  After this returns, the previous function is not called again.
void set_log(LogFunction, LogLevel least = LogLevel::info);

} // namespace reprise
