// Two ways of the same work in turn: the ratio of neighbours in time says more on a busy machine than two medians.
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
    double a = 0, b = 0;   // seconds, medians
    double ratio = 0;      // a over b, the median of the pairs
    double quartiles[2]{}; // of the pairs' ratios
};

// Both wait for the device.  Each goes first in every second pair, and is called once before it is timed: what the
// other has left undone (eager code is lazy) is done then.
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
