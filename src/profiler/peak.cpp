// Measures the rates that the library reaches on a device, as a yardstick for the launches of a profile.
#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/profiler.hpp>
#include <reprise/program.hpp>

#include "eager/context.hpp"
#include "execution/call_observer.hpp"
#include "graph/ambient.hpp"

namespace reprise {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr Seconds warm(0.1);         // of work raises the clocks of a GPU
constexpr double long_enough = 0.01; // call.launches of a call
constexpr std::int64_t least_elements = std::int64_t{1} << 20, most_elements = std::int64_t{1} << 25;
constexpr std::int64_t least_side = 128, most_side = 4096;

// The shortest time of a call in seconds.
struct Call {
    double launches = 0; // on the device's clock, else on the host's
    double around = 0;   // on the host's clock
};
Call shortest_call(const Device& device, const Program& program, const std::vector<Tensor>& inputs)
{
    program.call(inputs); // the driver compiles what it has not compiled yet
    device.synchronize();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Call least{infinity, infinity};
    const Clock::time_point begin = Clock::now();
    do {
        const Clock::time_point start = Clock::now();
        program.call(inputs);
        device.synchronize();
        const double around = Seconds(Clock::now() - start).count();
        double of_launches = 0;
        for (const LaunchTime& t : program.times()) of_launches += 1e-9 * (t.end - t.begin);
        least.launches = std::min(least.launches, of_launches > 0 ? of_launches : around);
        least.around = std::min(least.around, around);
    } while (Clock::now() - begin < warm);
    least.launches = std::max(least.launches, 1e-9);
    return least;
}

// Measures doubled sizes until a call takes long enough for the host, or the memory does not suffice for a larger one.
void double_size(std::int64_t size, std::int64_t most, const std::function<double(std::int64_t)>& measure)
{
    bool is_first = true;
    for (double seconds = 0; size <= most && seconds < long_enough; size *= 2) {
        try {
            seconds = measure(size);
        } catch (const Error& error) {
            if (is_first || error.kind() != ErrorKind::out_of_memory) throw;
            return;
        }
        is_first = false;
    }
}

} // namespace

DevicePeak measure_peak(const Device& device)
{
    if (execution::call_observer())
        detail::fail(ErrorKind::state, "measure_peak",
                     "A Profiler records, which would slow down what is measured: "
                     "measure the peak before it is made.");
    DevicePeak peak{.device = device.name()};
    if (!device.context()->device()->capabilities().computes) return peak;
    const graph::NoAutocast in_f32;
    const RecordOptions options{.timestamps = true, .device = device};
    double_size(least_elements, most_elements, [&](std::int64_t n) {
        const Program add = record([](Tensor x) { return x + 1.0; }, {spec({n})}, options);
        const Tensor x = zeros({n}, {.device = device});
        x.eval();
        const Call call = shortest_call(device, add, {x});
        // Short vectors lie in a cache, so the longest one counts.
        peak.bytes_per_second = 8 * static_cast<double>(n) / call.launches;
        return call.around;
    });
    double_size(least_side, most_side, [&](std::int64_t n) {
        const Program product =
            record([](Tensor a, Tensor b) { return matmul(a, b); }, {spec({n, n}), spec({n, n})}, options);
        const Tensor x = ones({n, n}, {.device = device});
        x.eval();
        const Call call = shortest_call(device, product, {x, x});
        const double side = static_cast<double>(n);
        peak.flops_per_second = std::max(peak.flops_per_second, 2 * side * side * side / call.launches);
        return call.around;
    });
    return peak;
}

} // namespace reprise
