// The program: trains and draws in one loop on one thread.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "canvas.hpp"
#include "learner.hpp"
#include "meter.hpp"
#include "options.hpp"
#include "panel.hpp"
#include "ui.hpp"

namespace desktop {

class App {
public:
    App(const Options&, const Gpu&, Window&, Frames&, Ui&);
    // Drops the steps that wait, and closes the window's device for the library.
    ~App();
    App(const App&) = delete;
    App& operator=(const App&) = delete;

    void frame(); // trains for a slice, and draws and presents one frame

    // For scripts: what the widgets change, and the buttons do.  An error becomes a message of the panel.
    Controls& controls() { return controls_; }
    void press(const Buttons&);
    bool choose_device(const std::string& name); // whether there is one
    Learner& learner() { return *learner_; }
    const Figures& figures() const { return figures_; }
    Meter& meter() { return meter_; }
    void save();
    void screenshot(const std::filesystem::path&); // draws one more frame, and writes it to a PNG

private:
    struct Place {
        Rect picture, panel, target;
    };
    Place place() const;
    void apply();
    void build(bool keep_state);
    void take_dropped();
    void fill_target();
    void load();
    bool trains() const;
    void train();
    void draw_points(const Rect&);
    void add_points(const Rect&);
    void draw_target(const Rect&);
    void update_figures();
    template <class Action> bool attempt(const Action&); // false after an error
    bool is_own() const { return learner_->device() == own_; }

    const Options& options_;
    const Gpu& gpu_;
    Window& window_;
    Frames& frames_;
    Ui& ui_;
    reprise::Device own_; // on the window's VkDevice and queue
    std::vector<std::string> device_names_;
    Controls controls_, applied_;
    Figures figures_;
    std::shared_ptr<Points> points_ = std::make_shared<Points>();
    std::shared_ptr<ImageTask> image_;
    std::unique_ptr<Learner> learner_;
    std::optional<Canvas> canvas_, target_;
    bool has_slices_ = true, is_stale_ = true; // stale: the picture is older than the network
    bool has_new_target_ = false;
    Meter::Clock::time_point look_began_{}, look_ended_{};
    std::optional<Points::Point> last_point_;
    Meter meter_, second_;          // since the last reset; of the present second
    std::int64_t steps_before_ = 0; // the present second
};

} // namespace desktop
