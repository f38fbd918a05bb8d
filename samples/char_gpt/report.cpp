#include "report.hpp"

#include <algorithm>

#include <reprise/path_text.hpp>

namespace char_gpt {

namespace rt = reprise::train;

rt::Figure picture(const History& h, const std::string& device)
{
    const auto steps = [](std::size_t count, double distance) {
        std::vector<double> out;
        for (std::size_t i = 1; i <= count; ++i) out.push_back(distance * static_cast<double>(i));
        return out;
    };
    const std::size_t window = std::clamp<std::size_t>(h.loss.size() / 20, 2, 25);
    const auto each = steps(h.loss.size(), 1);
    const auto epochs = steps(h.epoch_loss.size(), static_cast<double>(h.steps_per_epoch));
    rt::Panel panel{
        .title = "Loss",
        .x_label = "step",
        .y_label = "cross entropy (nats a character)",
        .series = {{.label = "each step", .x = each, .y = h.loss, .faint = true},
                   {.label = "mean of " + std::to_string(window) + " steps",
                    .x = each,
                    .y = rt::running_mean(h.loss, window)},
                   {.label = "mean of the epoch", .x = epochs, .y = h.epoch_loss, .points = true}},
        .y_min = 0,
        .y_max = {}};
    return {.title = "char_gpt on " + device, .panels = {panel}};
}

rt::Metrics figures(const History& h, const Options& o, const std::string& device)
{
    rt::Metrics options;
    options.set("epochs", o.epochs).set("batch", o.batch).set("features", o.features).set("layers", o.layers);
    options.set("steps", o.steps).set("sentences", o.sentences).set("longest", o.longest);
    options.set("precision", o.precision)
        .set("temperature", o.temperature)
        .set("device", o.device)
        .set("text", reprise::path_text(o.text))
        .set("out", reprise::path_text(o.out));
    options.set("seed", o.seed);
    rt::Metrics m;
    if (!h.epoch_loss.empty()) m.set("loss", h.epoch_loss.back());
    m.set("device", device).set("options", options);
    m.set("parameters", h.parameters).set("interrupted", h.interrupted);
    m.set("seconds", h.train_seconds).set("characters_per_second", h.characters_per_second);
    m.set("sizes", h.sizes).set("recordings", h.recordings);
    m.set("losses", h.loss).set("epoch_losses", h.epoch_loss);
    return m;
}

} // namespace char_gpt
