#include "report.hpp"

#include <reprise/path_text.hpp>

namespace deep_gpt {

namespace rt = reprise::train;

namespace {

// Plots memory over the launches of a step, in percent of their number, which differs between the curves.
rt::Series curve(const std::string& label, const Step& s)
{
    rt::Series out{.label = label, .x = {}, .y = {}};
    const auto last = static_cast<double>(s.by_launch.size() - 1);
    for (std::size_t i = 0; i < s.by_launch.size(); ++i) {
        out.x.push_back(last > 0 ? 100 * static_cast<double>(i) / last : 0);
        out.y.push_back(mib(s.by_launch[i]));
    }
    return out;
}

rt::Metrics figures(const Step& s)
{
    rt::Metrics m;
    m.set("peak", s.memory.peak).set("lower_bound", s.memory.lower_bound).set("outputs", s.memory.outputs);
    m.set("state", s.memory.state).set("launches", static_cast<std::uint64_t>(s.by_launch.size()));
    return m;
}

} // namespace

double mib(std::uint64_t bytes) { return static_cast<double>(bytes) / (1024 * 1024); }

rt::Figure memory_picture(const History& h, const Options& o, const std::string& device)
{
    rt::Panel panel{.title = "Memory over a step",
                    .x_label = "launches of the step (%)",
                    .y_label = "temporaries that live (MiB)",
                    .series = {curve("as recorded", h.without),
                               curve("a checkpoint around each block", h.checkpoints),
                               curve("within the budget", h.within),
                               {.label = "budget", .x = {0, 100}, .y = {o.budget, o.budget}, .faint = true}},
                    .y_min = 0,
                    .y_max = {}};
    return {.title = "deep_gpt, " + std::to_string(o.layers) + " layers, on " + device, .panels = {panel}};
}

rt::Figure training_picture(const History& h, const Options& o, const std::string& device)
{
    std::vector<double> steps;
    for (std::size_t i = 1; i <= h.loss.size(); ++i) steps.push_back(static_cast<double>(i));
    rt::Panel panel{.title = "Loss",
                    .x_label = "step",
                    .y_label = "cross entropy (nats a number)",
                    .series = {{.label = "each step", .x = steps, .y = h.loss, .faint = true},
                               {.label = "mean of 10 steps", .x = steps, .y = rt::running_mean(h.loss, 10)}},
                    .y_min = 0,
                    .y_max = {}};
    return {.title = "deep_gpt, " + std::to_string(o.layers) + " layers, on " + device, .panels = {panel}};
}

rt::Metrics figures(const History& h, const Options& o, const std::string& device)
{
    rt::Metrics options;
    options.set("layers", o.layers).set("features", o.features).set("length", o.length).set("batch", o.batch);
    options.set("steps", o.steps)
        .set("budget", o.budget)
        .set("device", o.device)
        .set("out", reprise::path_text(o.out));
    options.set("seed", o.seed);
    rt::Metrics m;
    m.set("device", device).set("options", options).set("parameters", h.parameters);
    m.set("as_recorded", figures(h.without)).set("checkpoints", figures(h.checkpoints));
    m.set("within_budget", figures(h.within));
    m.set("interrupted", h.interrupted).set("seconds", h.train_seconds).set("losses", h.loss);
    return m;
}

} // namespace deep_gpt
