// Compares eager training loops, which replay cached graphs, with the recorded step: the time on the calling thread.
#include <algorithm>

#include "pairs.hpp"
#include "workload.hpp"

namespace bench {

namespace rp = reprise;
using rp::Tensor;

namespace {

constexpr int sizes = 20;
constexpr int uncounted = 2, cycles = 3; // a cycle runs each size once

Measurements measure(const OpenStep& step, const rp::Device& device, bool quick)
{
    const rp::TracedFunction recorded_function = step.make(), eager = step.make();
    const rp::Program recorded =
        rp::record_function(recorded_function, step.specs(rp::symbol("n")), recording);
    std::vector<std::vector<Tensor>> inputs;
    const std::int64_t width = std::max<std::int64_t>(1, (step.max_size - step.min_size) / (sizes - 1));
    for (std::int64_t n = step.max_size; n >= step.min_size && inputs.size() < sizes; n -= width)
        inputs.push_back(data(step.specs(n)));
    const auto run_eager = [&](const std::vector<Tensor>& in) { rp::eval(eager(in)); };
    const auto run_recorded = [&](const std::vector<Tensor>& in) { recorded.call(in); };
    // Returns the CPU time of the calling thread for a step, in a loop that waits for each step.
    const auto awaited = [&](const auto& call, const std::vector<Tensor>& in) {
        const double before = thread_seconds();
        call(in);
        const double cost = thread_seconds() - before;
        device.synchronize();
        return cost;
    };
    // The same without waiting; the first cycles fill the queue of calls.  Waits count if the driver's spin (CUDA).
    const auto in_a_row = [&](const auto& call) {
        double before = 0;
        for (int cycle = 0; cycle < uncounted + cycles; ++cycle) {
            if (cycle == uncounted) before = thread_seconds();
            for (const auto& in : inputs) call(in);
        }
        const double cost = thread_seconds() - before;
        device.synchronize();
        return cost / cycles / static_cast<double>(inputs.size());
    };

    // The first steps create the optimizer's state; then a second size makes the size symbolic.
    for (int i = 0; i < 3; ++i) awaited(run_eager, inputs.front());
    awaited(run_eager, inputs.back());
    for (const auto& in : inputs) awaited(run_recorded, in);
    const rp::Stats before = rp::stats();
    std::vector<double> eager_row, recorded_row, eager_awaited, recorded_awaited;
    const int rounds = quick ? 1 : 3;
    for (int round = 0; round < rounds; ++round) {
        for (const auto& in : inputs) eager_awaited.push_back(awaited(run_eager, in));
        for (const auto& in : inputs) recorded_awaited.push_back(awaited(run_recorded, in));
        eager_row.push_back(in_a_row(run_eager));
        recorded_row.push_back(in_a_row(run_recorded));
    }
    const rp::Stats after = rp::stats();
    const double steps = rounds * (uncounted + cycles + 1) * static_cast<double>(inputs.size());
    const double nodes = static_cast<double>(after.eager_nodes - before.eager_nodes) / steps;
    const double e = median(eager_row), r = median(recorded_row);
    const double ea = median(eager_awaited), ra = median(recorded_awaited);
    const auto counted = [&](std::uint64_t rp::Stats::*what) {
        return static_cast<double>(after.*what - before.*what);
    };
    return {{"nodes", nodes},
            {"eager_us", e * 1e6},
            {"recorded_us", r * 1e6},
            {"node_us", (e - r) * 1e6 / nodes},
            {"awaited_eager_us", ea * 1e6},
            {"awaited_recorded_us", ra * 1e6},
            {"awaited_node_us", (ea - ra) * 1e6 / nodes},
            {"plans", counted(&rp::Stats::plans)},
            {"pipelines", counted(&rp::Stats::pipelines)},
            {"compilations", counted(&rp::Stats::shader_compilations)},
            {"recordings", counted(&rp::Stats::recordings)},
            {"kept", static_cast<double>(after.eager_plans)}};
}

} // namespace

std::vector<Report> eager_reports()
{
    std::vector<OpenStep> steps = open_training_steps();
    steps.push_back(open_gpt_step());
    std::vector<Report> out;
    for (const OpenStep& s : steps)
        out.push_back({"eager_" + s.name,
                       [s](const rp::Device& device, bool quick) { return measure(s, device, quick); }});
    return out;
}

} // namespace bench
