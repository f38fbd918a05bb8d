// The host calls of a recording, and its stream calls, which run on a stream of their own.
#pragma once
#include "device/cuda/parts.hpp"
#include <map>
#include <span>

namespace reprise::device::cuda {

class Calls {
public:
    Calls(Parts&, std::span<const LaunchDeclaration>);
    ~Calls();
    Calls(const Calls&) = delete;
    Calls& operator=(const Calls&) = delete;

    bool empty() const noexcept { return all_.empty(); }
    // Returns false if the launch is no call.
    bool set(std::uint32_t launch, const LaunchArguments&);

    // In the order of launches, with the queue locked and the context current: begin() adds a call to the streams, and
    // returns false if the launch is none; join() lets what follows wait for those that this launch needs.
    bool begin(std::size_t launch);
    void join(std::size_t launch);
    // Waits for all calls of a submission that has failed.  Nothing else is left on the streams.
    void abandon();

private:
    struct Job;
    struct HostJob;
    struct StreamJob;
    struct Launch {
        std::uint32_t joins; // the first launch that waits; may be the end
        std::shared_ptr<const HostFunction> function;
        std::shared_ptr<const StreamCall> on_stream;
        HostArguments arguments{};
        std::shared_ptr<Job> running{};
    };

    Parts& parts_;
    std::map<std::uint32_t, Launch> all_; // by launch
};

} // namespace reprise::device::cuda
