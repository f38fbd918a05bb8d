#include "script.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

namespace desktop {

Script::Script(App& app, std::filesystem::path screenshots) : app_(app), screenshots_(std::move(screenshots))
{
    add_parts();
}

void Script::add_parts()
{
    Controls& c = app_.controls();
    const auto no_change = [] {};
    parts_ = {
        {"drawing only", 3, [&c] { c.paused = true; }},
        {"points", 8, [&c] { c.paused = false; }, {}, "points.png"},
        {"ten batches", 5, no_change,
         [&c](double share) {
             constexpr std::array batches{32, 48, 100, 128, 200, 256, 300, 384, 500, 512};
             c.batch = batches[std::min<std::size_t>(9, static_cast<std::size_t>(10 * share))];
         }},
        {"learning rate", 2, [&c] { c.learning_rate *= 0.7F; }},
        {"times of a step", 2, [&c] { c.shows_times = true; }, {}, "times.png"},
        // The next step after a profiled one records its commands, as without a profiler.
        {"no times", 1, [&c] { c.shows_times = false; }},
        {"no points", 1, [this] { app_.press({.clear = true}); }},
        {"two spirals", 1, [this] { app_.press({.spirals = true}); }},
        {"restart", 2, [this] { app_.press({.restart = true}); }},
        {"slice of 8 ms", 2, [&c] { c.slice = 8; }},
        {"width", 3, [&c] { c.slice = 4, c.width = 64; }},
        {"precision", 3, [&c] { c.precision = Precision::bf16; }},
        {"precision again", 2, [&c] { c.precision = Precision::f32; }},
        {"pause", 1, [&c] { c.paused = true; }},
        {"cancel", 1, [this] { cancel(); }},
        {"save", 1, [this] { app_.press({.save = true}); }},
        {"load", 1, [this] { app_.press({.load = true}); }},
        {"device reference", 2, [this, &c] { c.paused = false, app_.choose_device("reference"); }},
        {"device vulkan:0", 2, [this] { app_.choose_device("vulkan:0"); }},
        {"this window's device", 2, [this] { app_.choose_device(""); }},
        {"picture", 12, [&c] { c.task = TaskKind::picture, c.batch = 256; }, {}, "picture.png"},
    };
}

// Queues more than a few slices of steps, drops them, and waits for what the device was given.
void Script::cancel()
{
    using Clock = std::chrono::steady_clock;
    for (int i = 0; i < 50; ++i) app_.learner().step(512);
    app_.learner().device().advance();
    const Clock::time_point start = Clock::now();
    const std::size_t dropped = app_.learner().cancel();
    app_.learner().device().synchronize();
    const std::chrono::duration<double, std::milli> passed = Clock::now() - start;
    std::printf("cancelled: calls %zu, milliseconds %.1f\n", dropped, passed.count());
}

void Script::begin()
{
    recordings_ = app_.figures().recordings;
    pipelines_ = app_.figures().pipelines;
    parts_[part_].begin();
    app_.frame(); // here, as it may take seconds to record programs
    steps_ = app_.learner().steps();
    app_.meter() = {};
    has_begun_ = true;
}

void Script::end()
{
    const Figures& f = app_.figures();
    const Meter& m = app_.meter();
    const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
    std::printf("%s: seconds %.1f, frames %lld, steps %lld, recordings %llu -> %llu, pipelines %llu -> %llu",
                parts_[part_].name.c_str(), m.seconds(), static_cast<long long>(m.frames()),
                static_cast<long long>(app_.learner().steps() - steps_), number(recordings_),
                number(f.recordings), number(pipelines_), number(f.pipelines));
    if (m.within()) std::printf(", within %.3f, longest %.1f ms", *m.within(), m.longest());
    if (app_.learner().loss()) std::printf(", loss %.5f", *app_.learner().loss());
    std::printf("%s%s\n", f.message.empty() ? "" : ", ", f.message.c_str());
    std::fflush(stdout);
    ++part_;
    has_begun_ = false;
}

void Script::frame()
{
    if (done()) return;
    if (!has_begun_) return begin();
    const Part& part = parts_[part_];
    const double share = app_.meter().seconds() / part.seconds;
    if (part.each_frame) part.each_frame(share);
    if (share < 1) return;
    if (part.screenshot && !screenshots_.empty()) app_.screenshot(screenshots_ / part.screenshot);
    end();
}

} // namespace desktop
