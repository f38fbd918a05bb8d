// Trains a network in a window, on the window's own Vulkan device, between its frames.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <thread>

#include "../common/run.hpp"
#include "app.hpp"
#include "script.hpp"

namespace {

using Clock = std::chrono::steady_clock;

// Sleeps until the next frame is due; a frame that is late does not make others hurry.
class Pace {
public:
    explicit Pace(std::int64_t fps) : between_(fps > 0 ? 1'000'000'000 / fps : 0) {}
    void wait()
    {
        next_ = std::max(next_ + between_, Clock::now());
        std::this_thread::sleep_until(next_);
    }

private:
    std::chrono::nanoseconds between_;
    Clock::time_point next_ = Clock::now();
};

int run(const Options& options)
{
    const std::filesystem::path& screenshots = options.screenshots;
    if (!screenshots.empty()) make_folder(screenshots, {});
    // Each object uses those above it, so they are destroyed in the right order.
    const desktop::Glfw glfw;
    const desktop::Gpu gpu(glfw.instance_extensions(), options.gpu);
    desktop::Window window(1280, 800, "Reprise: training between frames");
    const desktop::Surface surface(gpu.instance(), window);
    desktop::Frames frames(gpu, window, surface.handle());
    desktop::Ui ui(gpu, window, frames);
    desktop::App app(options, gpu, window, frames, ui);
    std::printf("Device: %s\n", gpu.name().c_str());
    std::fflush(stdout);

    std::optional<desktop::Script> script;
    if (options.script) script.emplace(app, screenshots);
    Pace pace(options.fps);
    const Clock::time_point start = Clock::now();
    const auto is_over = [&] {
        const std::chrono::duration<double> passed = Clock::now() - start;
        return window.closed() || (options.seconds > 0 && passed.count() > options.seconds) ||
               (script && script->done());
    };
    while (!is_over()) {
        app.frame();
        if (script) script->frame();
        pace.wait();
    }
    if (!screenshots.empty()) app.screenshot(screenshots / "last.png");
    app.learner().cancel();
    if (options.save) app.save();
    return 0;
}

} // namespace

int main(int argc, char** argv) { return run_main(argc, argv, parse, run); }
