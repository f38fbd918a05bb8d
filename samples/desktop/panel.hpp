// The panel beside the picture: what the user sets, and figures of the training.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "canvas.hpp"
#include "learner.hpp"

namespace desktop {

enum class TaskKind { points, picture };

struct Controls {
    TaskKind task = TaskKind::points;
    std::size_t device = 0; // an index of Figures::devices
    Precision precision = Precision::f32;
    int width = 32;
    int batch = 128;
    float learning_rate = 1e-2F;
    float slice = 4; // milliseconds
    bool paused = false;
    bool shows_times = false; // of a step by op
};

// What was clicked in a frame.
struct Buttons {
    bool step = false, cancel = false, restart = false, save = false, load = false;
    bool clear = false, spirals = false; // the points
};

struct Figures {
    std::vector<std::string> devices; // the window's own is the first one
    std::string message;              // about the last action; empty: nothing
    double frame_milliseconds = 0, steps_per_second = 0;
    std::optional<double> within; // Meter::within()
    std::optional<double> trained_milliseconds;
    std::uint64_t live_bytes = 0, peak_bytes = 0; // of the device; of a step's temporaries
    std::uint64_t recordings = 0, pipelines = 0;
    std::vector<reprise::ProfiledKind> times; // Learner::profile()
};

// Draws the panel; changes the controls by its widgets.
Buttons draw_panel(const Rect&, Controls&, const Learner&, const Figures&);

} // namespace desktop
