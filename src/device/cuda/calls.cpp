#include "device/cuda/calls.hpp"
#include <algorithm>
#include <atomic>
#include <exception>
#include <latch>
#include <utility>

namespace reprise::device::cuda {

// A call of one submission.  The thread of host calls gets it at the submission, so that calls of both kinds run in the
// order of submissions, and waits until the stream has come to it.
struct Calls::Job {
    Job(Parts& p, HostArguments a) : parts(p), arguments(std::move(a)), begun(event(CU_EVENT_BLOCKING_SYNC))
    {}
    virtual ~Job() { destroy(begun); }
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    virtual void begin(const std::shared_ptr<Job>& self) = 0;
    virtual void join() = 0; // lets the stream wait for its end

    CUevent event(unsigned flags) const
    {
        CUevent e = nullptr;
        parts.context.call("cuEventCreate", &Driver::cuEventCreate, &e, flags | CU_EVENT_DISABLE_TIMING);
        return e;
    }
    void destroy(CUevent e) const
    {
        const Context::Current current(parts.context);
        parts.context.driver.cuEventDestroy(e);
    }
    void record(CUevent e, CUstream on) const
    {
        parts.context.call("cuEventRecord", &Driver::cuEventRecord, e, on);
    }
    void await_begin() const
    {
        const Context::Current current(parts.context);
        parts.context.call("cuEventSynchronize", &Driver::cuEventSynchronize, begun);
    }

    Parts& parts;
    const HostArguments arguments;
    const CUevent begun;
};

struct Calls::HostJob final : Job {
    HostJob(Parts& p, std::shared_ptr<const HostFunction> f, HostArguments a)
        : Job(p, std::move(a)), function(std::move(f))
    {}
    void begin(const std::shared_ptr<Job>& self) override
    {
        record(begun, parts.context.stream());
        auto job = std::static_pointer_cast<HostJob>(self);
        parts.host_calls.post({.await = [job] { job->await_begin(); },
                               .run = [job] { (*job->function)(job->arguments.view()); },
                               .finished = [job] { job->ended->count_down(); }});
    }
    // The stream calls the host to wait.  That function must not call the driver, and so must not destroy the job.
    void join() override
    {
        auto data = std::make_unique<std::shared_ptr<std::latch>>(ended);
        const auto wait = [](void* d) {
            const std::unique_ptr<std::shared_ptr<std::latch>> latch(
                static_cast<std::shared_ptr<std::latch>*>(d));
            (*latch)->wait();
        };
        parts.context.call("cuLaunchHostFunc", &Driver::cuLaunchHostFunc, parts.context.stream(),
                           static_cast<CUhostFn>(wait), static_cast<void*>(data.get()));
        static_cast<void>(data.release());
    }

private:
    const std::shared_ptr<const HostFunction> function;
    const std::shared_ptr<std::latch> ended = std::make_shared<std::latch>(1);
};

struct Calls::StreamJob final : Job {
    StreamJob(Parts& p, std::shared_ptr<const StreamCall> c, HostArguments a)
        : Job(p, std::move(a)), call(std::move(c)), ended(event(0))
    {}
    ~StreamJob() override { destroy(ended); }
    // The call is supervised from before it is added, which may wait for other ranks.
    void begin(const std::shared_ptr<Job>& self) override
    {
        const CUstream own = parts.context.stream_of_calls();
        record(begun, parts.context.stream());
        wait(own, begun);
        auto job = std::static_pointer_cast<StreamJob>(self);
        parts.host_calls.post({.await = [job] { // also on a lost device, whose stream would not end
            job->call->supervise(
                job->arguments.view(), [&] { job->await_begin(); }, [&] { return job->has_ended(); });
        }});
        try {
            call->enqueue(own, arguments.view());
            record(ended, own);
        } catch (...) {
            failure = std::current_exception();
            progress = Progress::failed;
            throw;
        }
        progress = Progress::enqueued;
    }
    void join() override { wait(parts.context.stream(), ended); }

private:
    enum class Progress : std::uint8_t { posted, enqueued, failed };

    void wait(CUstream stream, CUevent e) const
    {
        parts.context.call("cuStreamWaitEvent", &Driver::cuStreamWaitEvent, stream, e, 0u);
    }
    bool has_ended() const
    {
        const Progress now = progress;
        if (now == Progress::failed) std::rethrow_exception(failure);
        if (now == Progress::posted) return false;
        const Context::Current current(parts.context);
        return parts.context.call("cuEventQuery", &Driver::cuEventQuery, ended) == CUDA_SUCCESS;
    }

    const std::shared_ptr<const StreamCall> call;
    const CUevent ended;
    std::atomic<Progress> progress = Progress::posted;
    std::exception_ptr failure{}; // written before `progress`
};

Calls::Calls(Parts& parts, std::span<const LaunchDeclaration> launches) : parts_(parts)
{
    for (std::uint32_t i = 0; i < launches.size(); ++i) {
        if (!launches[i].on_host) continue;
        const auto joins = std::find_if(launches.begin(), launches.end(),
                                        [&](const auto& l) { return l.epoch >= launches[i].joins; });
        all_.emplace(i, Launch{static_cast<std::uint32_t>(joins - launches.begin()), launches[i].kernel.host,
                               launches[i].kernel.on_stream});
    }
}

Calls::~Calls() = default;

bool Calls::set(std::uint32_t launch, const LaunchArguments& arguments)
{
    const auto at = all_.find(launch);
    if (at == all_.end()) return false;
    at->second.arguments.assign(arguments);
    return true;
}

bool Calls::begin(std::size_t launch)
{
    const auto at = all_.find(static_cast<std::uint32_t>(launch));
    if (at == all_.end()) return false;
    Launch& l = at->second;
    if (l.arguments.groups == 0) return true;
    HostArguments arguments = std::exchange(l.arguments, {});
    if (l.on_stream) l.running = std::make_shared<StreamJob>(parts_, l.on_stream, std::move(arguments));
    else l.running = std::make_shared<HostJob>(parts_, l.function, std::move(arguments));
    l.running->begin(l.running);
    return true;
}

void Calls::join(std::size_t launch)
{
    for (auto& [number, l] : all_)
        if (l.joins == launch && l.running) {
            l.running->join();
            l.running.reset();
        }
}

void Calls::abandon()
{
    parts_.host_calls.wait();
    parts_.context.wait_for_stream_of_calls();
    for (auto& [number, l] : all_) l.running.reset();
}

} // namespace reprise::device::cuda
