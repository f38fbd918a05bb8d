#include "learner.hpp"

#include <algorithm>
#include <array>

namespace rp = reprise;
namespace nn = reprise::nn;

namespace desktop {

namespace {

constexpr double first_learning_rate = 3e-3;
// The picture is computed in as many bands, so that each launch is short.
constexpr std::int64_t bands = 8;

bool is_cancelled(const rp::Error& error) { return error.kind() == rp::ErrorKind::cancelled; }

} // namespace

class Learner::Net : public nn::Module {
public:
    Net(const Task& task, std::int64_t width)
        : task_(task), in_(task.features(), width), hidden_(width, width), out_(width, task.outputs())
    {
        register_module("in", in_);
        register_module("hidden", hidden_);
        register_module("out", out_);
    }
    rp::Tensor forward(rp::Tensor x) override
    {
        x = task_.activation(in_(x));
        return out_(task_.activation(hidden_(x)));
    }

private:
    const Task& task_;
    nn::Linear in_, hidden_, out_;
};

Learner::Learner(const rp::Device& device, std::shared_ptr<const Task> task, std::int64_t width,
                 Precision precision)
    : device_(device), task_(std::move(task)), width_(width), precision_(precision)
{
    rp::set_default_device(device);
    net_ = std::make_unique<Net>(*task_, width);
    optimizer_ = std::make_unique<rp::optim::Adam>(net_->parameters(),
                                                   rp::optim::Adam::Options{.lr = first_learning_rate});
    const std::int64_t rows = task_->rows(), each = (rows + bands - 1) / bands;
    for (std::int64_t first = 0; first < rows; first += each)
        positions_.push_back(positions(*task_, first, std::min(each, rows - first), device));
    load_examples();
    record();
    initial_net_ = net_->state_dict();
    initial_optimizer_ = optimizer_->state_dict();
}

Learner::~Learner() = default;

rp::Tensor Learner::forward(const rp::Tensor& positions) const
{
    const rp::Tensor features = task_->features(positions); // in f32: 16 bits are too few for a position
    const rp::autocast guard(precision_ == Precision::f16 ? rp::f16 : rp::bf16, precision_ != Precision::f32);
    return (*net_)(features).to(rp::f32);
}

void Learner::record()
{
    const rp::Dim n = rp::symbol("n", {.min = 1}), batch = rp::symbol("batch", {.min = 1});
    step_ = rp::record(
        [this](rp::Tensor positions, rp::Tensor targets, rp::Dim size) {
            const rp::Tensor chosen = (rp::rand({size}) * positions.size(0)).to(rp::i32);
            const rp::Tensor loss = task_->loss(forward(rp::index_select(positions, 0, chosen)),
                                                rp::index_select(targets, 0, chosen));
            optimizer_->zero_grad();
            if (precision_ == Precision::f16) {
                scaler_.scale(loss).backward();
                scaler_.step(*optimizer_);
                scaler_.update();
            } else {
                loss.backward();
                optimizer_->step();
            }
            return loss.detach();
        },
        {rp::spec({n, 2}), task_->target_spec(n), batch}, {.device = device_});
    const std::int64_t columns = task_->columns();
    const rp::Dim rows = rp::symbol("rows", {.min = 1});
    look_ = rp::record(
        [this, columns](rp::Tensor positions) {
            const rp::no_grad guard;
            const rp::Tensor rgb = task_->colours(forward(positions.reshape({-1, 2})));
            const rp::Tensor alpha = rp::ones({rgb.size(0), 1});
            return rp::cat({rgb, alpha}, 1).reshape({positions.size(0), columns, 4});
        },
        {rp::spec({rows, columns, 2})}, {.device = device_});
}

void Learner::load_examples() { examples_ = task_->examples(device_); }

void Learner::step(std::int64_t batch)
{
    losses_.push_back(step_(examples_.positions, examples_.targets, batch));
}

void Learner::read_losses()
{
    rp::Tensor last;
    while (!losses_.empty()) {
        try {
            if (!losses_.front().is_ready()) break;
            last = losses_.front();
            ++steps_;
        } catch (const rp::Error& error) {
            if (!is_cancelled(error)) throw;
        }
        losses_.pop_front();
    }
    if (!last.defined()) return;
    loss_ = last.item<double>();
    curve_.add(*loss_);
}

void Learner::look()
{
    bands_.clear();
    for (const rp::Tensor& p : positions_) bands_.push_back(look_(p));
}

std::optional<std::vector<rp::Tensor>> Learner::take_picture()
{
    try {
        if (bands_.empty() ||
            !std::all_of(bands_.begin(), bands_.end(), [](auto& b) { return b.is_ready(); }))
            return std::nullopt;
    } catch (const rp::Error& error) {
        if (!is_cancelled(error)) throw;
        bands_.clear(); // the next look() computes it
        return std::nullopt;
    }
    return std::exchange(bands_, {});
}

std::vector<rp::ProfiledKind> Learner::profile(std::int64_t batch)
{
    rp::Profiler profiler({.schedule = {.warmup = 1, .active = 1, .repeat = 1}});
    for (int i = 0; i < 2; ++i) {
        step(batch);
        profiler.step();
    }
    return profiler.key_averages();
}

std::size_t Learner::cancel() { return device_.cancel(); }

rp::CallMemory Learner::memory(std::int64_t batch) const
{
    return step_.memory({batch, std::max<std::int64_t>(1, examples_.positions.size(0).value())});
}

std::int64_t Learner::parameters() const { return static_cast<std::int64_t>(net_->num_parameters()); }

void Learner::restart()
{
    cancel();
    net_->load_state_dict(initial_net_);
    optimizer_->load_state_dict(initial_optimizer_);
    losses_.clear();
    steps_ = 0;
    loss_.reset();
    curve_ = {};
}

void Learner::take_state(Learner& other)
{
    net_->load_state_dict(other.net_->state_dict());
    optimizer_->load_state_dict(other.optimizer_->state_dict());
    steps_ = other.steps_;
    loss_ = other.loss_;
    curve_ = other.curve_;
}

std::vector<rp::train::Part> Learner::parts()
{
    return {{"net", *net_}, {"optimizer", *optimizer_}, {"steps", steps_}};
}

void Learner::save(const std::filesystem::path& path)
{
    device_.synchronize();
    read_losses();
    std::string task = task_->name();
    std::vector<rp::train::Part> all = parts();
    all.emplace_back("task", task);
    all.emplace_back("width", width_);
    rp::train::save_checkpoint(path, all);
}

void Learner::load(const std::filesystem::path& path)
{
    rp::train::load_checkpoint(path, parts(), {.strict = false});
    curve_ = {};
}

Learner::Kind Learner::kind_of(const std::filesystem::path& path)
{
    Kind kind;
    rp::train::load_checkpoint(path, {{"task", kind.task}, {"width", kind.width}},
                               {.strict = false, .generator = false});
    return kind;
}

} // namespace desktop
