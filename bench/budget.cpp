// Compares steps within a memory budget with the same steps without one, at ten batch sizes.
#include <algorithm>
#include <cstring>

#include "pairs.hpp"
#include "workload.hpp"

namespace bench {

namespace rp = reprise;
using rp::Tensor;

namespace {

std::uint64_t total_bytes(const rp::CallMemory& m) { return m.peak + m.outputs; }

rp::Program recorded(const OpenStep& step, const rp::Dim& batch, std::optional<std::uint64_t> budget)
{
    rp::manual_seed(1); // the same weights each time
    rp::RecordOptions options = recording;
    options.memory_budget = budget;
    return rp::record_function(step.make(), step.specs(batch), options);
}

// Returns the smallest budget that recording at this size reports in its error for a budget of 1 byte.
std::uint64_t min_budget(const OpenStep& step, std::int64_t batch)
{
    try {
        recorded(step, batch, 1);
    } catch (const rp::Error& error) {
        const std::string text = error.what(), before = "that was found is (";
        return std::stoull(text.substr(text.find(before) + before.size()));
    }
    return 0;
}

Measurements measure(const OpenStep& step, const rp::Device& device, bool quick)
{
    const rp::Program without = recorded(step, rp::symbol("n"), std::nullopt);
    const std::uint64_t unlimited = total_bytes(without.memory({step.max_size})),
                        min_bytes = min_budget(step, step.max_size);
    const std::uint64_t budget = std::max(unlimited * 2 / 5, min_bytes * 11 / 10);
    const rp::Program within = recorded(step, rp::symbol("n"), budget);
    int same = 0, in_budget = 0, sizes = 0;
    double ratio = 0, worst = 0, arena = 0;
    for (int i = 10; i > 0; --i) {
        const std::int64_t n = std::max<std::int64_t>(step.max_size * i / 10, 1);
        const std::vector<Tensor> in = data(step.specs(n));
        const auto loss = [&](const rp::Program& p) { return p.call(in)[0].item<float>(); };
        const auto call = [&](const rp::Program& p) {
            return [&] {
                p.call(in);
                device.synchronize();
            };
        };
        const float a = loss(within), b = loss(without);
        ++sizes;
        same += std::memcmp(&a, &b, sizeof a) == 0;
        const rp::CallMemory m = within.memory({n});
        in_budget += total_bytes(m) <= budget;
        arena = std::max(arena, static_cast<double>(m.peak) / static_cast<double>(m.lower_bound));
        const Pairs p = in_turn(call(within), call(without), quick ? 2 : 5);
        if (i == 10) ratio = p.ratio;
        worst = std::max(worst, p.ratio);
    }
    const auto mib = [](std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
    return {{"free_mib", mib(unlimited)},
            {"least_mib", mib(min_bytes)},
            {"budget_mib", mib(budget)},
            {"budget_over_free", static_cast<double>(budget) / static_cast<double>(unlimited)},
            {"time_ratio", ratio},
            {"time_ratio_most", worst},
            {"arena_over_bound_most", arena},
            {"sizes", sizes},
            {"sizes_in_budget", in_budget},
            {"sizes_of_same_bits", same}};
}

} // namespace

std::vector<Report> budget_reports()
{
    std::vector<Report> out;
    std::vector<OpenStep> steps = open_training_steps();
    steps.push_back(gpt8_step());
    for (OpenStep& s : steps) {
        if (s.name != "resnet8" && s.name != "gpt8") continue;
        if (s.name == "resnet8") s.max_size = 64;
        out.push_back({"budget_" + s.name,
                       [s](const rp::Device& device, bool quick) { return measure(s, device, quick); }});
    }
    return out;
}

} // namespace bench
