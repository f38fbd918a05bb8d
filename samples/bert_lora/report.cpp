#include "report.hpp"

#include <algorithm>

#include <reprise/path_text.hpp>

namespace bert_lora {

namespace rt = reprise::train;

double mib(std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

std::uint64_t bytes_of(const reprise::CallMemory& m) { return m.state + m.peak + m.outputs; }

rt::Figure picture(const std::vector<History>& histories, const std::string& device)
{
    rt::Panel loss{.title = "Loss", .x_label = "step", .y_label = "cross entropy (nats)", .y_min = 0};
    rt::Panel accuracy{.title = "Accuracy",
                       .x_label = "step",
                       .y_label = "share of the test's texts",
                       .y_min = 0,
                       .y_max = 1};
    for (const History& h : histories) {
        std::vector<double> steps, ends;
        for (std::size_t i = 1; i <= h.loss.size(); ++i) steps.push_back(static_cast<double>(i));
        for (std::size_t i = 1; i <= h.test_loss.size(); ++i)
            ends.push_back(std::min(static_cast<double>(i) * static_cast<double>(h.steps_per_epoch),
                                    static_cast<double>(h.loss.size())));
        const std::size_t window = std::clamp<std::size_t>(h.loss.size() / 10, 2, 100);
        loss.series.push_back({.label = h.method + ", mean of " + std::to_string(window) + " steps",
                               .x = steps,
                               .y = rt::running_mean(h.loss, window)});
        loss.series.push_back({.label = h.method + ", test", .x = ends, .y = h.test_loss, .points = true});
        accuracy.series.push_back({.label = h.method, .x = ends, .y = h.test_accuracy, .points = true});
    }
    return {.title = "bert_lora on " + device, .panels = {loss, accuracy}};
}

rt::Metrics figures(const std::vector<History>& histories, const std::vector<History>& memory,
                    const Options& o, const std::string& device)
{
    rt::Metrics options;
    options.set("data", reprise::path_text(o.data)).set("base", reprise::path_text(o.base));
    options.set("out", reprise::path_text(o.out)).set("device", o.device);
    options.set("epochs", o.epochs).set("base_epochs", o.base_epochs).set("batch", o.batch);
    options.set("longest", o.longest).set("features", o.features).set("layers", o.layers);
    options.set("vocabulary", o.vocabulary).set("rank", o.rank).set("weights", o.weights);
    options.set("precision", o.precision).set("budget", o.budget).set("rate", o.rate);
    options.set("steps", o.steps).set("seed", o.seed);
    rt::Metrics m;
    m.set("device", device).set("options", options);
    for (const History& h : memory)
        m.set(h.method + "_memory", rt::Metrics()
                                        .set("trained_parameters", h.trained)
                                        .set("state", h.memory.state)
                                        .set("temporaries", h.memory.peak + h.memory.outputs));
    for (const History& h : histories)
        m.set(h.method, rt::Metrics()
                            .set("losses", h.loss)
                            .set("epoch_losses", h.epoch_loss)
                            .set("test_losses", h.test_loss)
                            .set("test_accuracies", h.test_accuracy)
                            .set("seconds", h.seconds)
                            .set("texts_per_second", h.texts_per_second)
                            .set("recordings", h.recordings)
                            .set("interrupted", h.interrupted));
    return m;
}

} // namespace bert_lora
