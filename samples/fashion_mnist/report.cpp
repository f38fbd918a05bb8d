#include "report.hpp"

#include <algorithm>

#include <reprise/path_text.hpp>

namespace rt = reprise::train;

namespace {

std::vector<double> steps(std::size_t count, double distance) // distance, 2 distance, ...
{
    std::vector<double> out;
    for (std::size_t i = 1; i <= count; ++i) out.push_back(distance * static_cast<double>(i));
    return out;
}

std::vector<double> percent(std::vector<double> shares)
{
    for (double& share : shares) share *= 100;
    return shares;
}

} // namespace

rt::Figure picture(const History& h, const std::string& device)
{
    const std::size_t window = std::clamp<std::size_t>(h.loss.size() / 20, 2, 25);
    const std::string mean = "training, mean of " + std::to_string(window) + " steps";
    const auto each = steps(h.loss.size(), 1);
    const auto epochs = steps(h.test_accuracy.size(), static_cast<double>(h.steps_per_epoch));
    const auto accuracy = percent(h.accuracy);
    const auto panel = [&](const char* title, const char* unit, const std::vector<double>& values,
                           const std::vector<double>& test) {
        return rt::Panel{.title = title,
                         .x_label = "step",
                         .y_label = unit,
                         .series = {{.label = "training, each step", .x = each, .y = values, .faint = true},
                                    {.label = mean, .x = each, .y = rt::running_mean(values, window)},
                                    {.label = "test", .x = epochs, .y = test, .points = true}},
                         .y_min = {},
                         .y_max = {}};
    };
    rt::Figure figure{.title = "Fashion-MNIST on " + device, .panels = {}};
    figure.panels.push_back(panel("Loss", "cross entropy (nats)", h.loss, h.test_loss));
    figure.panels.push_back(panel("Accuracy", "accuracy (%)", accuracy, percent(h.test_accuracy)));
    figure.panels[0].y_min = 0;
    figure.panels[1].y_max = 100;
    return figure;
}

rt::Metrics figures(const History& h, const Options& o, const std::string& device)
{
    rt::Metrics options;
    options.set("epochs", o.epochs)
        .set("batch", o.batch)
        .set("device", o.device)
        .set("data", reprise::path_text(o.data))
        .set("out", reprise::path_text(o.out));
    options.set("seed", o.seed).set("train_limit", o.train_limit);
    rt::Metrics m;
    if (!h.test_accuracy.empty()) {
        m.set("test_accuracy", h.test_accuracy.back());
        m.set("test_loss", h.test_loss.back());
    }
    m.set("device", device).set("seed", o.seed).set("options", options);
    m.set("parameters", h.parameters).set("interrupted", h.interrupted);
    m.set("seconds", h.train_seconds).set("images_per_second", h.images_per_second);
    m.set("test_accuracies", h.test_accuracy).set("test_losses", h.test_loss);
    m.set("losses", h.loss).set("accuracies", h.accuracy);
    return m;
}
