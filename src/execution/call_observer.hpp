// What a profiler learns of each call of an executable.  While there is an observer, calls are recorded with timestamps
// and wait for their end.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace reprise::execution {

struct ObservedLaunch {
    std::string label, kernel;
    double begin = 0, end = 0; // in ns after the start of the call
    double flops = 0, bytes = 0;
};
struct ObservedCall {
    using Time = std::chrono::steady_clock::time_point;
    std::string device;                     // "vulkan:0"
    Time submitted, done;                   // on the host
    std::vector<ObservedLaunch> launches{}; // those that ran, by begin; empty on devices without timestamps
    std::uint64_t live_bytes = 0;           // of the device, after the call
};

class CallObserver {
public:
    virtual ~CallObserver() = default;
    virtual bool wants_calls() const = 0;  // whether the next call is to be observed
    virtual void called(ObservedCall) = 0; // several threads may call it
};

// Only one at a time; null: none.  Calls that run meanwhile may still end with the observer before.
void set_call_observer(std::shared_ptr<CallObserver>);
// Returns the observer if it wants calls, else null.
std::shared_ptr<CallObserver> call_observer();

} // namespace reprise::execution
