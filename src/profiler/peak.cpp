// Measures what a device can do, as a yardstick for the launches of a profile.
#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/profiler.hpp>
#include <reprise/program.hpp>

namespace reprise {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int repetitions = 5;
// A call that takes as long has little time of the host in it.
constexpr double long_enough = 0.01; // seconds
constexpr std::int64_t longest_row = std::int64_t{1} << 24, widest_product = 4096;

// The least time of a call in seconds.
double seconds(const Device& device, const std::function<Tensor()>& call)
{
    call(); // uploads, and compiles what the driver has not compiled yet
    device.synchronize();
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < repetitions; ++i) {
        const Clock::time_point start = Clock::now();
        call();
        device.synchronize();
        least = std::min(least, std::chrono::duration<double>(Clock::now() - start).count());
    }
    return least;
}

// Doubles a size until a call is long enough, and returns the most amount of work per second on the way.
double fastest(std::int64_t size, std::int64_t largest, const std::function<double(std::int64_t)>& work,
               const std::function<double(std::int64_t)>& time)
{
    double best = 0;
    for (double took = 0; size <= largest && took < long_enough; size *= 2) {
        took = time(size);
        best = std::max(best, work(size) / took);
    }
    return best;
}

} // namespace

DevicePeak measure_peak(const Device& device)
{
    const Dim n = symbol("n", {.min = 1});
    const auto copy = record([](Tensor x) { return x + 1.0; }, {spec({n})}, {.device = device});
    const auto product = record([](Tensor a, Tensor b) { return matmul(a, b); }, {spec({n, n}), spec({n, n})},
                                {.device = device});
    DevicePeak peak;
    peak.bytes = fastest(
        longest_row / 64, longest_row, [](std::int64_t size) { return 8.0 * static_cast<double>(size); },
        [&](std::int64_t size) {
            const Tensor x = zeros({size}, {.device = device});
            x.eval();
            return seconds(device, [&] { return copy(x); });
        });
    peak.flops = fastest(
        widest_product / 32, widest_product,
        [](std::int64_t size) { return 2.0 * static_cast<double>(size * size) * static_cast<double>(size); },
        [&](std::int64_t size) {
            const Tensor x = ones({size, size}, {.device = device});
            x.eval();
            return seconds(device, [&] { return product(x, x); });
        });
    return peak;
}

} // namespace reprise
