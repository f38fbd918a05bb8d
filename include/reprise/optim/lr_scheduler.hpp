// Schedules of learning rates: PyTorch's names, defaults and values.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

// Sets the rates of an optimizer's groups, at once when it is made and then at each step(), which is called after
// optimizer.step() and between the calls of programs: they follow.  The optimizer must outlive its schedules, and have
// its groups before them.  The rates at epoch 0 are kept with the optimizer (initial_learning_rate), so that several
// schedules may work on one.  With last_epoch >= 0 a schedule goes on behind that epoch with an optimizer whose state
// was loaded.
class LRScheduler {
public:
    virtual ~LRScheduler() = default;
    LRScheduler(const LRScheduler&) = delete;
    LRScheduler& operator=(const LRScheduler&) = delete;

    virtual void step();
    std::int64_t last_epoch() const noexcept { return last_epoch_; }
    const std::vector<double>& get_last_lr() const noexcept { return last_lr_; } // by group
    Optimizer& optimizer() const noexcept { return optimizer_; }

    // "last_epoch", "last_lr" and what else a schedule keeps; each i32 [2 n], as in the optimizer's state, whose
    // rates it does not hold: save both.
    StateDict state_dict() const;
    void load_state_dict(const StateDict&); // all or, with an Error, nothing

protected:
    class Keeper; // saves, checks and loads what a schedule keeps
    LRScheduler(const char* name, Optimizer&, std::int64_t last_epoch);
    // The first step; each schedule calls it at the end of its constructor.
    void begin();
    // The rate of a group at last_epoch(), and at epoch 0 whatever the rate is now.
    virtual double rate(std::size_t group) const;
    virtual double first(std::size_t group) const { return rate(group); }
    // Sets the rates of all groups.
    virtual void update();
    virtual void keep(Keeper&);

    double now(std::size_t group) const { return optimizer_.learning_rate(group); }
    double base(std::size_t group) const { return base_[group]; }
    bool beginning() const noexcept { return beginning_; } // the first step, of the constructor
    void set_rates(const std::vector<double>&);
    void set_last_lr();
    void check_not_recording() const;
    [[noreturn]] void refuse(const std::string& sentence) const; // Error(argument)

    const char* name_;
    Optimizer& optimizer_;
    std::int64_t last_epoch_;

private:
    friend class SequentialLR;
    friend class ChainedScheduler;
    friend class ReduceLROnPlateau;
    virtual void undo() { --last_epoch_; } // the first step, of a schedule that comes later in a sequence
    virtual void restart();                // at epoch 0

    std::vector<double> base_, last_lr_;
    bool beginning_ = false;
};

// Times gamma after each step_size epochs.
class StepLR : public LRScheduler {
public:
    StepLR(Optimizer&, std::int64_t step_size, double gamma = 0.1, std::int64_t last_epoch = -1);

private:
    double rate(std::size_t group) const override;
    double first(std::size_t group) const override;
    std::int64_t step_size_;
    double gamma_;
};

// Times gamma at each of the epochs.
class MultiStepLR : public LRScheduler {
public:
    MultiStepLR(Optimizer&, std::vector<std::int64_t> milestones, double gamma = 0.1,
                std::int64_t last_epoch = -1);

private:
    double rate(std::size_t group) const override;
    double first(std::size_t group) const override;
    std::vector<std::int64_t> milestones_;
    double gamma_;
};

// Times factor, up to the epoch total_iters.
class ConstantLR : public LRScheduler {
public:
    explicit ConstantLR(Optimizer&, double factor = 1.0 / 3, std::int64_t total_iters = 5,
                        std::int64_t last_epoch = -1);

private:
    double rate(std::size_t group) const override;
    double first(std::size_t group) const override;
    double factor_;
    std::int64_t total_iters_;
};

// Times a factor that goes from start_factor to end_factor in total_iters epochs: warm-up.
class LinearLR : public LRScheduler {
public:
    explicit LinearLR(Optimizer&, double start_factor = 1.0 / 3, double end_factor = 1.0,
                      std::int64_t total_iters = 5, std::int64_t last_epoch = -1);

private:
    double rate(std::size_t group) const override;
    double first(std::size_t group) const override;
    double start_, end_;
    std::int64_t total_iters_;
};

// Times gamma after each epoch.
class ExponentialLR : public LRScheduler {
public:
    ExponentialLR(Optimizer&, double gamma, std::int64_t last_epoch = -1);

private:
    double rate(std::size_t group) const override;
    double first(std::size_t group) const override;
    double gamma_;
};

// Times (1 - epoch / total_iters)^power, 0 from total_iters on.
class PolynomialLR : public LRScheduler {
public:
    explicit PolynomialLR(Optimizer&, std::int64_t total_iters = 5, double power = 1.0,
                          std::int64_t last_epoch = -1);

private:
    double rate(std::size_t group) const override;
    double first(std::size_t group) const override;
    std::int64_t total_iters_;
    double power_;
};

// Times f(epoch): one function for all groups, or one for each.
class LambdaLR : public LRScheduler {
public:
    using Function = std::function<double(std::int64_t epoch)>;
    LambdaLR(Optimizer&, Function, std::int64_t last_epoch = -1);
    LambdaLR(Optimizer&, std::vector<Function>, std::int64_t last_epoch = -1);

private:
    double rate(std::size_t group) const override;
    std::vector<Function> functions_;
};

// From the initial rate to eta_min along half a cosine in T_max epochs, and back.
class CosineAnnealingLR : public LRScheduler {
public:
    CosineAnnealingLR(Optimizer&, std::int64_t T_max, double eta_min = 0, std::int64_t last_epoch = -1);

private:
    double rate(std::size_t group) const override;
    double first(std::size_t group) const override;
    std::int64_t period_;
    double least_;
};

// The same from the top again after T_0 epochs, then after T_mult times as many, and so on.
class CosineAnnealingWarmRestarts : public LRScheduler {
public:
    CosineAnnealingWarmRestarts(Optimizer&, std::int64_t T_0, std::int64_t T_mult = 1, double eta_min = 0,
                                std::int64_t last_epoch = -1);

    void step() override;
    void step(double epoch); // also between epochs: epoch + i / batches

private:
    double rate(std::size_t group) const override;
    void keep(Keeper&) override;
    void restart() override { step(0.0); }
    std::int64_t first_, times_;
    double least_, current_; // epochs since the last restart
    double period_;
};

struct OneCycleOptions {
    std::vector<double> max_lr{};                           // one for all groups, or one for each
    std::optional<std::int64_t> total_steps = std::nullopt; // or both of:
    std::optional<std::int64_t> epochs = std::nullopt, steps_per_epoch = std::nullopt;
    double pct_start = 0.3; // share of the steps in which the rate rises
    enum class Anneal { cos, linear } anneal_strategy = Anneal::cos;
    bool cycle_momentum = true; // against the rate: "momentum", or "beta1" of Adam
    double base_momentum = 0.85, max_momentum = 0.95;
    double div_factor = 25, final_div_factor = 1e4;
    bool three_phase = false;
    std::int64_t last_epoch = -1;
};
// From max_lr / div_factor to max_lr and down to max_lr / div_factor / final_div_factor; a step for each batch.
// Error(argument) for a step beyond the last.
class OneCycleLR : public LRScheduler {
public:
    OneCycleLR(Optimizer&, const OneCycleOptions&);
    void step() override;

private:
    struct Phase {
        double end;                  // epoch
        double rates[2], momenta[2]; // from, to
    };
    void update() override;
    void check() const;
    std::vector<Phase> phases_of(double max_lr) const;
    std::vector<std::vector<Phase>> phases_; // by group
    OneCycleOptions options_;
    std::int64_t total_ = 0;
    const char* momentum_ = nullptr; // the option's name
};

using Schedulers = std::vector<std::shared_ptr<LRScheduler>>;

// One schedule after the other, each from its own epoch 0 on: the next one begins at each milestone.
class SequentialLR : public LRScheduler {
public:
    SequentialLR(Optimizer&, Schedulers, std::vector<std::int64_t> milestones, std::int64_t last_epoch = -1);
    void step() override;

private:
    void undo() override;
    void restart() override;
    void keep(Keeper&) override;
    std::size_t at(std::int64_t epoch) const;
    Schedulers schedulers_;
    std::vector<std::int64_t> milestones_;
};

// All at once: each works on the rates that the one before it gives.
class ChainedScheduler : public LRScheduler {
public:
    explicit ChainedScheduler(Schedulers);
    void step() override;

private:
    void undo() override;
    void restart() override;
    void keep(Keeper&) override;
    Schedulers schedulers_;
};

struct ReduceLROnPlateauOptions {
    enum class Mode { min, max } mode = Mode::min;
    double factor = 0.1;
    std::int64_t patience = 10; // epochs without improvement that are passed over
    double threshold = 1e-4;    // of an improvement
    enum class Threshold { rel, abs } threshold_mode = Threshold::rel;
    std::int64_t cooldown = 0; // epochs after a reduction in which none is counted
    std::vector<double> min_lr = {0};
    double eps = 1e-8; // smaller changes are not made
};
// Times factor when a metric has stopped to improve.
class ReduceLROnPlateau {
public:
    explicit ReduceLROnPlateau(Optimizer&, const ReduceLROnPlateauOptions& = {});
    void step(double metric);
    std::int64_t last_epoch() const noexcept { return last_epoch_; }
    const std::vector<double>& get_last_lr() const noexcept { return last_lr_; }
    StateDict state_dict() const;
    void load_state_dict(const StateDict&); // all or, with an Error, nothing

private:
    bool is_better(double metric) const;
    void keep(LRScheduler::Keeper&);
    void reduce();
    Optimizer& optimizer_;
    ReduceLROnPlateauOptions options_;
    std::vector<double> last_lr_;
    double best_;
    std::int64_t last_epoch_ = 0, bad_epochs_ = 0, cooldown_left_ = 0;
};

} // namespace reprise::optim
