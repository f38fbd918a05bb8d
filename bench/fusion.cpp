// Measures the speedup by the fuser: training steps recorded with and without it, called in turn.
#include "pairs.hpp"
#include "workload.hpp"

namespace bench {

namespace {

Measurements fused_over_unfused(const Workload& w, const reprise::Device& device, bool quick)
{
    const bool as_asked = recording.fuse;
    const auto made = [&](bool fuse) {
        recording.fuse = fuse;
        Run run = w.make();
        recording.fuse = as_asked;
        return [run = std::move(run), device] {
            run();
            device.synchronize();
        };
    };
    const Pairs p = in_turn(made(true), made(false), quick ? 6 : 30);
    return {{"fused_ms", p.a * 1e3},
            {"unfused_ms", p.b * 1e3},
            {"ratio", p.ratio},
            {"ratio_quartile_1", p.quartiles[0]},
            {"ratio_quartile_3", p.quartiles[1]}};
}

} // namespace

std::vector<Report> fusion_reports()
{
    std::vector<Workload> steps = training_workloads();
    for (Workload& w : gpt_workloads())
        if (w.make) steps.push_back(std::move(w));
    std::vector<Report> out;
    for (Workload& w : steps)
        out.push_back({"fusion_" + w.name, [w](const reprise::Device& device, bool quick) {
                           return fused_over_unfused(w, device, quick);
                       }});
    return out;
}

} // namespace bench
