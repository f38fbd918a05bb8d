// Times two functions in turn: on a busy machine, ratios of successive runs are more reliable than a ratio of medians.
#pragma once
#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace bench {

inline double median(std::vector<double> v)
{
    if (v.empty()) return 0;
    std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
    return v[v.size() / 2];
}

struct Pairs {
    double a = 0, b = 0;   // medians, in seconds
    double ratio = 0;      // a / b, the median over the pairs
    double quartiles[2]{}; // of the ratios, the first and the third
};

// Both functions must wait for the device.  They take turns in going first.  Each is called once before it is timed,
// which completes work that the other may have left pending (eager code is lazy).
inline Pairs in_turn(const std::function<void()>& a, const std::function<void()>& b, int pairs)
{
    using Clock = std::chrono::steady_clock;
    const auto timed = [](const std::function<void()>& f) {
        f();
        const Clock::time_point start = Clock::now();
        f();
        return std::chrono::duration<double>(Clock::now() - start).count();
    };
    std::vector<double> as, bs, ratios;
    for (int i = 0; i < pairs; ++i) {
        double first = 0, second = 0;
        if (i % 2) second = timed(b);
        first = timed(a);
        if (i % 2 == 0) second = timed(b);
        as.push_back(first);
        bs.push_back(second);
        ratios.push_back(first / second);
    }
    std::sort(ratios.begin(), ratios.end());
    return {
        median(as), median(bs), median(ratios), {ratios[ratios.size() / 4], ratios[ratios.size() * 3 / 4]}};
}

} // namespace bench
