#include "app.hpp"

#include <algorithm>
#include <cmath>

#include <reprise/path_text.hpp>

namespace rp = reprise;
using namespace std::chrono_literals;

namespace desktop {

namespace {

constexpr std::int64_t longest_side = 128; // pixels of a picture that is learnt

std::shared_ptr<ImageTask> picture_of(const std::filesystem::path& file)
{
    return std::make_shared<ImageTask>(file.empty() ? sunset(longest_side)
                                                    : read_picture(file, longest_side));
}

// Without what drivers add in brackets.
std::string short_name(const std::string& name) { return name.substr(0, name.find(" (")); }

} // namespace

App::App(const Options& options, const Gpu& gpu, Window& window, Frames& frames, Ui& ui)
    : options_(options), gpu_(gpu), window_(window), frames_(frames), ui_(ui),
      own_(gpu.training_device(options.barriers)), image_(picture_of(options.picture))
{
    device_names_.emplace_back();
    figures_.devices.push_back("this window's: " + short_name(gpu.name()));
    for (const rp::DeviceDescription& d : rp::devices()) {
        if (!d.refused.empty() || d.name.empty() || d.kind == "null") continue;
        device_names_.push_back(d.name);
        figures_.devices.push_back(d.name + ": " + short_name(d.description));
    }
    controls_.task = options.task == "picture" ? TaskKind::picture : TaskKind::points;
    controls_.batch = static_cast<int>(options.batch);
    controls_.width = static_cast<int>(options.width);
    controls_.slice = static_cast<float>(options.slice);
    build(false);
    if (options.load) load();
}

App::~App()
{
    own_.cancel();
    gpu_.wait_idle(); // frames may still copy from tensors and draw the pictures
    canvas_.reset();
    target_.reset();
    learner_.reset();
    rp::reset_default_device();
    own_.close();
}

void App::fill_target()
{
    std::vector<float> rgba;
    const std::vector<float>& rgb = image_->picture().rgb;
    for (std::size_t i = 0; i < rgb.size(); i += 3)
        rgba.insert(rgba.end(), {rgb[i], rgb[i + 1], rgb[i + 2], 1});
    if (target_) target_->fill(frames_, rgba);
    has_new_target_ = false;
}

// Makes a learner for the controls.  After an error everything is as it was.
void App::build(bool keep_state)
{
    const std::string& name = device_names_[controls_.device];
    const rp::Device device = name.empty() ? own_ : rp::Device(name);
    std::shared_ptr<const Task> task = points_;
    if (controls_.task == TaskKind::picture) task = image_;
    if (learner_) learner_->cancel();
    auto next = std::make_unique<Learner>(device, task, controls_.width, controls_.precision);
    if (keep_state) next->take_state(*learner_);
    const std::chrono::duration<double, std::milli> slice(controls_.slice);
    has_slices_ = device.type() == rp::kVulkan;
    if (has_slices_) device.set_slice(std::chrono::duration_cast<std::chrono::nanoseconds>(slice));
    gpu_.wait_idle(); // frames in flight may use the old pictures
    if (controls_.task == TaskKind::picture) {
        const Picture& picture = image_->picture();
        target_.emplace(gpu_, picture.width, picture.height);
        has_new_target_ = true;
    } else target_.reset();
    if (!canvas_ || !keep_state) canvas_.emplace(gpu_, task->columns(), task->rows());
    learner_ = std::move(next);
    applied_ = controls_;
    is_stale_ = true;
    look_began_ = look_ended_ = {};
    steps_before_ = learner_->steps();
}

template <class Action> bool App::attempt(const Action& action)
{
    try {
        action();
        return true;
    } catch (const std::exception& error) {
        figures_.message = error.what();
        return false;
    }
}

void App::take_dropped()
{
    const auto file = window_.take_dropped();
    if (!file) return;
    image_ = picture_of(*file);
    controls_.task = TaskKind::picture;
    build(false);
}

void App::apply()
{
    attempt([&] { take_dropped(); });
    const bool same_network = controls_.task == applied_.task && controls_.width == applied_.width;
    const bool same_place = controls_.device == applied_.device && controls_.precision == applied_.precision;
    if (!same_network || !same_place) {
        figures_.message.clear();
        if (attempt([&] { build(same_network); })) return;
        controls_ = applied_;
        rp::set_default_device(learner_->device());
    }
    if (controls_.slice != applied_.slice && has_slices_) {
        const std::chrono::duration<double, std::milli> slice(controls_.slice);
        learner_->device().set_slice(std::chrono::duration_cast<std::chrono::nanoseconds>(slice));
    }
    applied_ = controls_;
    learner_->set_learning_rate(controls_.learning_rate);
}

void App::press(const Buttons& b)
{
    attempt([&] {
        if (b.step) learner_->step(controls_.batch);
        if (b.cancel) {
            const std::size_t dropped = learner_->cancel();
            figures_.message = "Cancelled " + std::to_string(dropped) + " calls that had not begun.";
        }
        if (b.restart) learner_->restart();
        if (b.save) {
            save();
            figures_.message = "Saved to " + rp::path_text(options_.checkpoint) + ".";
        }
        if (b.load) load();
        if (b.clear) points_->clear();
        if (b.spirals) *points_ = Points();
        if (b.clear || b.spirals) learner_->load_examples();
        is_stale_ = is_stale_ || b.restart || b.load;
    });
}

bool App::choose_device(const std::string& name)
{
    const auto found = std::find(device_names_.begin(), device_names_.end(), name);
    if (found == device_names_.end()) return false;
    controls_.device = static_cast<std::size_t>(found - device_names_.begin());
    return true;
}

void App::screenshot(const std::filesystem::path& path)
{
    frames_.save_png(path);
    frame();
}

void App::save() { learner_->save(options_.checkpoint); }

void App::load()
{
    const Learner::Kind kind = Learner::kind_of(options_.checkpoint);
    controls_.task = kind.task == image_->name() ? TaskKind::picture : TaskKind::points;
    controls_.width = static_cast<int>(kind.width);
    if (controls_.task != applied_.task || controls_.width != applied_.width) build(false);
    learner_->cancel();
    learner_->load(options_.checkpoint);
    steps_before_ = learner_->steps();
    figures_.message = "Loaded " + rp::path_text(options_.checkpoint) + ".";
}

bool App::trains() const
{
    return !controls_.paused && (controls_.task == TaskKind::picture || !points_->points().empty());
}

// Queues work for one slice of the device's time.
void App::train()
{
    learner_->read_losses();
    const rp::Device& device = learner_->device();
    if (has_slices_) device.advance();
    // A device without slices gets the next call when it is idle.
    const auto has_time = [&] {
        return has_slices_ ? device.slice_left() > 0ns : learner_->steps_in_flight() == 0;
    };
    // Looking takes a third of the time, at most.
    const Meter::Clock::time_point now = Meter::Clock::now();
    const bool is_due = now - look_ended_ >= 2 * (look_ended_ - look_began_);
    if (is_stale_ && is_due && !learner_->is_looking() && has_time()) {
        learner_->look();
        look_began_ = now;
        is_stale_ = false;
    }
    while (trains() && has_time()) {
        learner_->step(controls_.batch);
        is_stale_ = true;
    }
    if (const auto picture = learner_->take_picture()) {
        canvas_->fill(frames_, *picture, is_own());
        look_ended_ = Meter::Clock::now();
    }
}

void App::frame()
{
    glfwPollEvents();
    apply();
    if (!frames_.begin()) return;
    frames_.clear();
    if (has_new_target_) fill_target();
    frames_.mark_begin();
    if (!attempt([&] { train(); })) controls_.paused = true; // such as for a lack of memory
    frames_.mark_end();
    const Place at = place();
    canvas_->draw(frames_, at.picture);
    if (target_) target_->draw(frames_, at.target);
    ui_.begin();
    if (controls_.task == TaskKind::points) {
        add_points(at.picture);
        draw_points(at.picture);
    } else draw_target(at.target);
    const Buttons pressed = draw_panel(at.panel, controls_, *learner_, figures_);
    frames_.begin_pass();
    ui_.draw(frames_.commands());
    frames_.end();
    meter_.frame(frames_.marked_milliseconds(), applied_.slice);
    second_.frame(frames_.marked_milliseconds(), applied_.slice);
    press(pressed);
    update_figures();
}

void App::update_figures()
{
    figures_.trained_milliseconds = frames_.marked_milliseconds();
    figures_.recordings = rp::stats(learner_->device()).recordings;
    figures_.pipelines = rp::stats(learner_->device()).pipelines;
    if (second_.seconds() < 0.5) return;
    figures_.frame_milliseconds = 1e3 / second_.frames_per_second();
    figures_.within = second_.within();
    figures_.steps_per_second = static_cast<double>(learner_->steps() - steps_before_) / second_.seconds();
    figures_.live_bytes = learner_->device().live_bytes();
    figures_.peak_bytes = learner_->memory(controls_.batch).peak;
    steps_before_ = learner_->steps();
    figures_.times.clear();
    if (controls_.shows_times && trains())
        attempt([&] { figures_.times = learner_->profile(controls_.batch); });
    second_ = {};
}

} // namespace desktop
