// Where the time of eager code and of recorded programs goes, launch by launch.
#pragma once
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <reprise/device.hpp>

namespace reprise {

// Which steps a Profiler records, as torch.profiler.schedule: after `skip_first` steps, cycles of wait, warmup and
// active steps follow.
struct ProfilerSchedule {
    std::int64_t skip_first = 0; // steps that are not recorded, once
    std::int64_t wait = 0;       // steps of each cycle that run as without a profiler
    std::int64_t warmup = 0;     // then steps that run as recorded ones, but whose times are left out
    std::int64_t active = std::numeric_limits<std::int64_t>::max(); // then steps that are recorded
    std::int64_t repeat = 0;                                        // the number of cycles; 0: no limit
};
// The highest rates that the library reaches on a device, by measure_peak().
struct DevicePeak {
    std::string device{};        // "vulkan:0"
    double flops_per_second = 0; // multiplications and additions of f32, in a product of matrices; 0: unknown
    double bytes_per_second = 0; // read and written by x + 1 of a long vector; 0: unknown
};
// Measures a device: products of square matrices up to 4096 x 4096, and x + 1 of up to 32 million elements, each until
// a call takes 10 ms.  It takes one to three seconds and up to 256 MiB of the device's memory, less where there is
// less. Nothing else may use the device meanwhile.  The rates of the null device are unknown.  Error(state) while a
// Profiler records or a function is recorded, Error(out_of_memory) if not even the smallest sizes fit.
DevicePeak measure_peak(const Device& = default_device());

// Options of a Profiler.
struct ProfilerOptions {
    ProfilerSchedule schedule{}; // all steps, unless set
    DevicePeak peak{}; // of measure_peak(): gives ProfiledKind::share_of_peak for launches on its device
};

// A launch of a recorded step.
struct ProfiledLaunch {
    std::string label{};   // its kernel and the ops that it computes, with their numbers in Program::text()
    std::string kernel{};  // the name of its kernel
    std::string device{};  // "vulkan:0"
    std::int64_t step = 0; // the number of step() calls before it
    double begin = 0;      // in microseconds from the construction of the profiler
    double end = 0;        // the same
    double flops = 0;      // multiplications and additions; 0 if they are not counted
    double bytes = 0;      // of the values that it reads and writes
};
// All launches of the same ops by the same kernel on one device.
struct ProfiledKind {
    std::string label{};    // as in ProfiledLaunch, without numbers
    std::string kernel{};   // the same
    std::int64_t count = 0; // the number of launches
    double total = 0;       // their time in microseconds
    double share = 0;       // of the time of all launches, from 0 to 1
    double flops = 0;       // of all of them
    double bytes = 0;       // the same
    std::string device{};   // where they ran
    // Their flops or bytes per second as a share of the peak's, whichever is larger; 0 without a peak of their device.
    // The share of bytes exceeds 1 where values are in a cache, and where a gather or a view reads less than the whole
    // tensor, which is what `bytes` counts; that of flops where products of 16 bits are faster than those of f32.
    double share_of_peak = 0;
};

// Records the time of each launch while it exists, in eager code and in programs of all threads and devices: a guard.
//  A call waits for its end meanwhile, so that host and device do not overlap.  On devices without timestamps there
// are calls only.  Only one Profiler may exist at a time.
//
//     Profiler profiler({.schedule = {.wait = 2, .warmup = 1, .active = 5}});
//     for (...) { step(x); profiler.step(); }
//     std::cout << profiler.table();
//     profiler.export_chrome_trace("trace.json");
class Profiler {
public:
    using Options = ProfilerOptions; // the options in braces

    // Error(state) where another one exists, Error(argument) for numbers below 0 and an active below 1.
    explicit Profiler(const Options& = {});
    ~Profiler();
    Profiler(const Profiler&) = delete;
    Profiler& operator=(const Profiler&) = delete;

    void step();                                  // ends a step of the schedule
    void stop();                                  // records no more
    std::vector<ProfiledLaunch> launches() const; // in the order of their begin
    // Returns the launches by ops and kernel, the longest total first.
    std::vector<ProfiledKind> key_averages() const;
    // Returns a table of the kinds that take most time, at most `rows`, for a terminal of 110 columns.
    std::string table(std::size_t rows = 20) const;
    // Writes a trace in Chrome's JSON format, which ui.perfetto.dev opens: launches by device, calls and ranges by
    // thread, and the memory of each device.  In full or, with Error(file), not at all.
    void export_chrome_trace(const std::filesystem::path&) const;

private:
    friend class ProfilerRange;
    class Recorder;
    std::shared_ptr<Recorder> recorder_;
    DevicePeak peak_;
};

// Names what a thread does while it exists, for the trace: { ProfilerRange range("forward"); ... }  Ranges may be
// nested. Without a Profiler it does nothing.
class ProfilerRange {
public:
    explicit ProfilerRange(std::string name); // begins the range
    ~ProfilerRange();                         // ends it
    ProfilerRange(const ProfilerRange&) = delete;
    ProfilerRange& operator=(const ProfilerRange&) = delete;

private:
    std::string name_;
    double begin_ = 0;
    std::shared_ptr<void> recorder_; // null: the range is not recorded
};

} // namespace reprise
