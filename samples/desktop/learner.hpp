// A network that learns a task on a device, in steps that never wait for the device.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <reprise/profiler.hpp>
#include <reprise/reprise.hpp>

#include "curve.hpp"
#include "tasks.hpp"

namespace desktop {

// What products are computed in.
enum class Precision { f32, bf16, f16 };
inline constexpr std::array precision_names{"f32", "bf16", "f16"};

class Learner {
public:
    // Records the programs.  The default device of the library becomes this one.
    Learner(const reprise::Device&, std::shared_ptr<const Task>, std::int64_t width, Precision);
    ~Learner();
    Learner(const Learner&) = delete;
    Learner& operator=(const Learner&) = delete;

    const reprise::Device& device() const { return device_; }
    const Task& task() const { return *task_; }
    std::int64_t width() const { return width_; }
    Precision precision() const { return precision_; }

    // Takes the task's examples again, after they have changed.  Nothing is recorded.
    void load_examples();
    void set_learning_rate(double rate) { optimizer_->set_learning_rate(rate); }
    // Queues a step with a random batch.
    void step(std::int64_t batch);
    // Reads the loss of the last step that is done.  It does not wait.
    void read_losses();
    std::size_t steps_in_flight() const { return losses_.size(); }

    // Queues the computation of the picture of what the network has learnt, from its present parameters.
    void look();
    bool is_looking() const { return !bands_.empty(); }
    // Returns that picture as bands of rows [rows, columns, 4] once all are ready; then look() may be called again.
    std::optional<std::vector<reprise::Tensor>> take_picture();

    // The times of a step by op, the longest first.  Takes two steps, and waits for them.
    std::vector<reprise::ProfiledKind> profile(std::int64_t batch);

    // Drops the steps that wait for the device, and returns their number.
    std::size_t cancel();

    std::int64_t steps() const { return steps_; } // those done
    std::optional<double> loss() const { return loss_; }
    const Curve& curve() const { return curve_; }
    std::int64_t parameters() const;
    reprise::CallMemory memory(std::int64_t batch) const;

    void restart(); // from the same initial parameters
    // Takes the parameters, the optimizer's state and the number of steps of a learner of the same task and width.
    void take_state(Learner&);
    void save(const std::filesystem::path&);
    void load(const std::filesystem::path&);
    // The task and width of a checkpoint.
    struct Kind {
        std::string task;
        std::int64_t width = 0;
    };
    static Kind kind_of(const std::filesystem::path&);

private:
    class Net;
    reprise::Tensor forward(const reprise::Tensor& positions) const;
    void record();
    std::vector<reprise::train::Part> parts();

    reprise::Device device_;
    std::shared_ptr<const Task> task_;
    std::int64_t width_;
    Precision precision_;
    std::unique_ptr<Net> net_;
    std::unique_ptr<reprise::optim::Adam> optimizer_;
    std::map<std::string, reprise::Tensor> initial_net_, initial_optimizer_;
    reprise::GradScaler scaler_;
    reprise::Recorded<reprise::Tensor(reprise::Tensor, reprise::Tensor, reprise::Dim)> step_;
    reprise::Recorded<reprise::Tensor(reprise::Tensor)> look_;
    Examples examples_;
    std::vector<reprise::Tensor> positions_; // of the bands of the picture
    std::vector<reprise::Tensor> bands_;     // of the picture that is being computed
    std::deque<reprise::Tensor> losses_;     // of the steps that are not done
    std::int64_t steps_ = 0;
    std::optional<double> loss_;
    Curve curve_;
};

} // namespace desktop
