#include "profile.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>

namespace bench {

namespace {

constexpr int warm = 3, calls = 15;
constexpr double ns_per_ms = 1e6, min_launch_ns = 500; // launches without workgroups take less

struct Line {
    reprise::LaunchTime launch;
    std::vector<double> ns{};
    double median() const { return ns[ns.size() / 2]; }
};

std::vector<Line> measure(const Workload& w, const reprise::Device& device)
{
    recording.timestamps = true;
    const Run run = w.make();
    std::vector<Line> lines;
    for (int call = -warm; call < calls; ++call) {
        run();
        device.synchronize();
        if (call < 0) continue;
        const std::vector<reprise::LaunchTime> times = run.program.times();
        if (lines.empty())
            for (const reprise::LaunchTime& t : times) lines.push_back({t});
        for (std::size_t i = 0; i < times.size(); ++i) lines[i].ns.push_back(times[i].end - times[i].begin);
    }
    for (Line& l : lines) std::sort(l.ns.begin(), l.ns.end());
    return lines;
}

const Workload& workload_of(const std::vector<Workload>& all, const std::string& name)
{
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Workload& w) { return w.name == name; });
    if (found == all.end()) throw std::invalid_argument("There is no workload (" + name + "): see --list.");
    return *found;
}

} // namespace

int print_plan(const std::vector<Workload>& all, const std::string& name, const reprise::Device& device)
{
    recording.timestamps = true;
    const Run run = workload_of(all, name).make();
    run();
    device.synchronize();
    std::printf("%s\nlaunches: flops, bytes, label\n", run.program.text().c_str());
    for (const reprise::LaunchTime& t : run.program.times())
        std::printf("%.0f\t%.0f\t%s\n", t.flops, t.bytes, t.label.c_str());
    return 0;
}

int print_profile(const std::vector<Workload>& all, const std::string& name, const reprise::Device& device)
{
    std::vector<Line> lines = measure(workload_of(all, name), device);
    if (lines.empty()) throw std::runtime_error("The device has no timestamps.");

    double total = 0;
    std::map<std::string, std::pair<double, int>> kernels; // time and launches, by kernel
    for (const Line& l : lines) {
        total += l.median();
        if (l.median() < min_launch_ns) continue;
        auto& [ns, count] = kernels[l.launch.label.substr(0, l.launch.label.find(' '))];
        ns += l.median();
        ++count;
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const Line& a, const Line& b) { return a.median() > b.median(); });
    std::printf("%s: %.3f ms\n%9s %7s %9s %7s  %s\n", name.c_str(), total / ns_per_ms, "ms", "share",
                "GFLOP/s", "GB/s", "launch");
    for (const Line& l : lines) {
        if (l.median() < min_launch_ns) continue;
        std::printf("%9.3f %6.1f%% ", l.median() / ns_per_ms, 100 * l.median() / total);
        if (l.launch.flops > 0) std::printf("%9.1f ", l.launch.flops / l.median());
        else std::printf("%9s ", "");
        std::printf("%7.2f  %s\n", l.launch.bytes / l.median(), l.launch.label.c_str());
    }
    std::vector<std::pair<std::string, std::pair<double, int>>> by_time(kernels.begin(), kernels.end());
    std::stable_sort(by_time.begin(), by_time.end(),
                     [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
    std::printf("%9s %7s %9s  %s\n", "ms", "share", "launches", "kernel");
    for (const auto& [kernel, sum] : by_time)
        std::printf("%9.3f %6.1f%% %9d  %s\n", sum.first / ns_per_ms, 100 * sum.first / total, sum.second,
                    kernel.c_str());
    return 0;
}

} // namespace bench
