// Schedules of learning rates, with the names, defaults and values of torch.optim.lr_scheduler.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <reprise/choice.hpp>
#include <reprise/optim/optimizer.hpp>

namespace reprise::optim {

// A number for all groups, or one for each.
class PerGroup : public std::vector<double> {
public:
    PerGroup() = default;                                                           // none
    PerGroup(double one) : vector{one} {}                                           // one for all groups
    PerGroup(std::initializer_list<double> numbers) : vector(numbers) {}            // those in braces
    PerGroup(std::vector<double> numbers) : vector(std::move(numbers)) {}           // those of a vector
    double of(std::size_t group) const { return (*this)[size() == 1 ? 0 : group]; } // that of a group
};

// The base class of schedules, which set the learning rates of an optimizer's groups: in the constructor, and
// at each step().  Call step() after optimizer.step(); recorded programs use the new rates from their next
// call on.  The optimizer must outlive its schedules and have all its groups before they are created.  The
// initial rates are stored in the optimizer (initial_learning_rate), so that several schedules may use one
// optimizer.  With last_epoch >= 0 a schedule continues after that epoch, with an optimizer whose state was
// loaded.  The constructors and step() throw Error(state) while a program is recorded; the constructors throw
// Error(argument) for arguments out of range, and for last_epoch >= 0 without initial rates.
class LRScheduler {
public:
    virtual ~LRScheduler() = default;
    LRScheduler(const LRScheduler&) = delete;
    LRScheduler& operator=(const LRScheduler&) = delete;

    virtual void step(); // advances to the next epoch and sets the rates
    std::int64_t last_epoch() const noexcept { return last_epoch_; } // the epoch; 0 after the constructor
    // Returns the last rate set for each group.
    const std::vector<double>& get_last_lr() const noexcept { return last_lr_; }
    Optimizer& optimizer() const noexcept { return optimizer_; } // the optimizer whose rates it sets

    // Returns "last_epoch", "last_lr" and the further state of the schedule, each i32 [2 n] as in the
    // optimizer's state.  The optimizer's rates are in its own state: save both.
    StateDict state_dict() const;
    // Loads a result of state_dict().  Throws Error(argument), after which nothing has changed, for the state
    // of another schedule; Error(state) while a program is recorded.
    void load_state_dict(const StateDict&);

protected:
    class Keeper; // for the library itself: saves, checks and loads a schedule's state
    // `name` is the schedule's name in errors.
    LRScheduler(const char* name, Optimizer&, std::int64_t last_epoch);
    // Performs the first step; each schedule calls it at the end of its constructor.
    void begin();
    // Returns the rate of a group at last_epoch(), computed from its present rate.
    virtual double rate(std::size_t group) const;
    // Returns the rate of a group at epoch 0, whatever its present rate is.
    virtual double first(std::size_t group) const { return rate(group); }
    virtual void update();      // sets the rates of all groups to rate()
    virtual void keep(Keeper&); // lists the schedule's state, for saving and loading

    // Returns the present rate of a group.
    double now(std::size_t group) const { return optimizer_.learning_rate(group); }
    double base(std::size_t group) const { return base_[group]; } // the initial rate of a group
    // Returns whether this is the first step, in the constructor.
    bool beginning() const noexcept { return beginning_; }
    void set_rates(const std::vector<double>&); // sets the rate of each group
    void set_last_lr();                         // sets get_last_lr() to the present rates
    void check_not_recording() const;           // throws Error(state) while a program is recorded
    [[noreturn]] void refuse(const std::string& sentence) const; // throws Error(argument)
    // Throws Error(argument) unless there is one number for all groups or one for each.
    void check_per_group(const char* what, const PerGroup&) const;
    // Returns "beta1" or "momentum", for a schedule that changes it.  Throws Error(argument) if a group has neither.
    const char* name_of_momentum() const;

    const char* name_;        // the schedule's name in errors
    Optimizer& optimizer_;    // the optimizer whose rates it sets
    std::int64_t last_epoch_; // the epoch; -1 before the first step

private:
    friend class SequentialLR;
    friend class ChainedScheduler;
    friend class ReduceLROnPlateau;
    virtual void undo() { --last_epoch_; } // the first step of a schedule that runs later in a sequence
    virtual void restart();                // restarts at epoch 0

    std::vector<double> base_, last_lr_;
    bool beginning_ = false;
};

// Multiplies the rate by gamma after each step_size epochs.
class StepLR : public LRScheduler {
public:
    // Throws Error(argument) for a step_size below 1.
    StepLR(Optimizer&, std::int64_t step_size, double gamma = 0.1, std::int64_t last_epoch = -1);

private:
    double rate(std::size_t group) const override;
    double first(std::size_t group) const override;
    std::int64_t step_size_;
    double gamma_;
};

// Multiplies the rate by gamma at each of the milestones, which are epochs; twice at one that is listed
// twice.
class MultiStepLR : public LRScheduler {
public:
    // The milestones may be in any order.
    MultiStepLR(Optimizer&, std::vector<std::int64_t> milestones, double gamma = 0.1,
                std::int64_t last_epoch = -1);

private:
    double rate(std::size_t group) const override;
    double first(std::size_t group) const override;
    std::vector<std::int64_t> milestones_;
    double gamma_;
};

// Multiplies the rate by factor until the epoch total_iters.
class ConstantLR : public LRScheduler {
public:
    // Throws Error(argument) unless factor is above 0 and at most 1.
    explicit ConstantLR(Optimizer&, double factor = 1.0 / 3, std::int64_t total_iters = 5,
                        std::int64_t last_epoch = -1);

private:
    double rate(std::size_t group) const override;
    double first(std::size_t group) const override;
    double factor_;
    std::int64_t total_iters_;
};

// Multiplies the rate by a factor that changes linearly from start_factor to end_factor in total_iters
// epochs, as for warm-up.
class LinearLR : public LRScheduler {
public:
    // Throws Error(argument) unless the factors are from 0 to 1, start_factor above 0 and total_iters at least 1.
    explicit LinearLR(Optimizer&, double start_factor = 1.0 / 3, double end_factor = 1.0,
                      std::int64_t total_iters = 5, std::int64_t last_epoch = -1);

private:
    double rate(std::size_t group) const override;
    double first(std::size_t group) const override;
    double start_, end_;
    std::int64_t total_iters_;
};

// Multiplies the rate by gamma after each epoch.
class ExponentialLR : public LRScheduler {
public:
    // `gamma` is the factor of each epoch.
    ExponentialLR(Optimizer&, double gamma, std::int64_t last_epoch = -1);

private:
    double rate(std::size_t group) const override;
    double first(std::size_t group) const override;
    double gamma_;
};

// The arguments of PolynomialLR, for braces.
struct PolynomialOptions {
    std::int64_t total_iters = 5; // the epochs until the rate is 0
    double power = 1.0;           // the exponent
    std::int64_t last_epoch = -1; // the epoch to continue after; -1: begin
};
// Multiplies the initial rate by (1 - epoch / total_iters)^power; the rate is 0 from the epoch total_iters
// on.
class PolynomialLR : public LRScheduler {
public:
    // Throws Error(argument) for total_iters below 1.
    explicit PolynomialLR(Optimizer&, std::int64_t total_iters = 5, double power = 1.0,
                          std::int64_t last_epoch = -1);
    // The same with the arguments in braces.
    PolynomialLR(Optimizer& optimizer, const PolynomialOptions& o)
        : PolynomialLR(optimizer, o.total_iters, o.power, o.last_epoch)
    {}

private:
    double rate(std::size_t group) const override;
    double first(std::size_t group) const override;
    std::int64_t total_iters_;
    double power_;
};

// Multiplies the initial rate by a function of the epoch.
class LambdaLR : public LRScheduler {
public:
    using Function = std::function<double(std::int64_t epoch)>; // the factor at an epoch
    // One function for all groups.  Throws Error(argument) for a null function.
    LambdaLR(Optimizer&, Function, std::int64_t last_epoch = -1);
    // One function for each group.  Throws Error(argument) for a null function or another number of functions.
    LambdaLR(Optimizer&, std::vector<Function>, std::int64_t last_epoch = -1);

private:
    double rate(std::size_t group) const override;
    std::vector<Function> functions_;
};

// Decreases from the initial rate to eta_min in T_max epochs along half a cosine, increases back in the next
// T_max, and so on: eta_min + (initial - eta_min) (1 + cos(pi epoch / T_max)) / 2.
class CosineAnnealingLR : public LRScheduler {
public:
    // Throws Error(argument) for T_max below 1.
    CosineAnnealingLR(Optimizer&, std::int64_t T_max, double eta_min = 0, std::int64_t last_epoch = -1);

private:
    double rate(std::size_t group) const override;
    double first(std::size_t group) const override;
    std::int64_t period_;
    double least_;
};

// The arguments of CosineAnnealingWarmRestarts, for braces.
struct WarmRestartsOptions {
    std::int64_t T_0 = 0;         // the epochs until the first restart
    std::int64_t T_mult = 1;      // the factor of that number after each restart
    double eta_min = 0;           // the lowest rate
    std::int64_t last_epoch = -1; // the epoch to continue after; -1: begin
};
// Anneals as CosineAnnealingLR, but restarts at the initial rate after T_0 epochs, then after T_0 T_mult
// more, and so on.
class CosineAnnealingWarmRestarts : public LRScheduler {
public:
    // Throws Error(argument) for T_0 or T_mult below 1.
    CosineAnnealingWarmRestarts(Optimizer&, std::int64_t T_0, std::int64_t T_mult = 1, double eta_min = 0,
                                std::int64_t last_epoch = -1);
    // The same with the arguments in braces.
    CosineAnnealingWarmRestarts(Optimizer& optimizer, const WarmRestartsOptions& o)
        : CosineAnnealingWarmRestarts(optimizer, o.T_0, o.T_mult, o.eta_min, o.last_epoch)
    {}

    void step() override; // advances to the next epoch
    // Sets any epoch, also a fractional one: epoch + i / batches.  Throws Error(argument) for a negative one.
    void step(double epoch);

private:
    double rate(std::size_t group) const override;
    void keep(Keeper&) override;
    void restart() override { step(0.0); }
    std::int64_t first_, times_;
    double least_, current_; // epochs since the last restart
    double period_;
};

// Options of OneCycleLR.
struct OneCycleOptions {
    PerGroup max_lr{}; // the highest rate: one for all groups, or one for each
    // The number of all steps; none: epochs times steps_per_epoch.
    std::optional<std::int64_t> total_steps = std::nullopt;
    std::optional<std::int64_t> epochs = std::nullopt, // the number of epochs, for total_steps
        steps_per_epoch = std::nullopt;                // the number of steps in an epoch, for total_steps
    double pct_start = 0.3; // the share of the steps in which the rate rises, from 0 to 1
    // The interpolation between two rates.
    enum class Anneal {
        cos,   // along half a cosine
        linear // along a line
    };
    Choice<Anneal> anneal_strategy = Anneal::cos; // the interpolation between two rates
    bool cycle_momentum = true;  // also changes the momentum ("beta1" of Adam), down while the rate rises
    double base_momentum = 0.85, // the lowest momentum
        max_momentum = 0.95;     // the highest momentum
    double div_factor = 25,      // max_lr divided by the first rate
        final_div_factor = 1e4;  // the first rate divided by the last
    // true: decreases to the first rate in the same number of steps, and then to the last rate.  false:
    // decreases directly to the last rate.
    bool three_phase = false;
    std::int64_t last_epoch = -1; // the step to continue after; -1: begin
};
// PyTorch's names of OneCycleOptions::Anneal.
inline constexpr ChoiceNames<OneCycleOptions::Anneal, 2> names_of_choices(OneCycleOptions::Anneal)
{
    using enum OneCycleOptions::Anneal;
    return {{{"cos", cos}, {"linear", linear}}};
}
// The 1cycle policy (Smith and Topin 2017): the rate rises from max_lr / div_factor to max_lr and falls to
// max_lr / div_factor / final_div_factor.  Call step() after each batch.
class OneCycleLR : public LRScheduler {
public:
    // Throws Error(argument) for options that are missing or out of range, and for cycle_momentum where a
    // group has no momentum.
    OneCycleLR(Optimizer&, const OneCycleOptions&);
    // The same with the other options' defaults.
    OneCycleLR(Optimizer& optimizer, const PerGroup& max_lr, std::int64_t total_steps)
        : OneCycleLR(optimizer, OneCycleOptions{.max_lr = max_lr, .total_steps = total_steps})
    {}
    void step() override; // advances to the next step; throws Error(argument) after the last

private:
    struct Phase {
        double end;                  // epoch
        double rates[2], momenta[2]; // from, to
    };
    void update() override;
    void restart() override
    {
        last_epoch_ = 0;
        update();
    }
    void check() const;
    std::vector<Phase> phases_of(double max_lr) const;
    std::vector<std::vector<Phase>> phases_; // by group
    OneCycleOptions options_;
    std::int64_t total_ = 0;
    const char* momentum_ = nullptr; // the option's name
};

// Options of CyclicLR.
struct CyclicOptions {
    PerGroup base_lr{},               // the lowest rate: one for all groups, or one for each
        max_lr{};                     // the highest rate: one for all groups, or one for each
    std::int64_t step_size_up = 2000; // the steps in which the rate rises
    std::optional<std::int64_t> step_size_down = std::nullopt; // steps in which it falls; none: step_size_up
    // How the height of the cycles changes.
    enum class Mode {
        triangular,  // it is constant
        triangular2, // it halves in each cycle
        exp_range    // it is multiplied by gamma in each step
    };
    Choice<Mode> mode = Mode::triangular;     // how the height of the cycles changes, without scale_fn
    double gamma = 1.0;                       // the factor of exp_range
    std::function<double(double)> scale_fn{}; // the factor of the height; null: that of the mode
    // The argument of scale_fn.
    enum class Scale {
        cycle,     // the number of the cycle, from 1
        iterations // the number of the step, from 0
    };
    Choice<Scale> scale_mode = Scale::cycle; // the argument of scale_fn
    bool cycle_momentum = true;              // also changes the momentum ("beta1" of Adam), the other way
    PerGroup base_momentum = 0.8,            // the lowest momentum
        max_momentum = 0.9;                  // the highest momentum
    std::int64_t last_epoch = -1;            // the step to continue after; -1: begin
};
// PyTorch's names of CyclicOptions::Mode.
inline constexpr ChoiceNames<CyclicOptions::Mode, 3> names_of_choices(CyclicOptions::Mode)
{
    using enum CyclicOptions::Mode;
    return {{{"triangular", triangular}, {"triangular2", triangular2}, {"exp_range", exp_range}}};
}
// PyTorch's names of CyclicOptions::Scale.
inline constexpr ChoiceNames<CyclicOptions::Scale, 2> names_of_choices(CyclicOptions::Scale)
{
    using enum CyclicOptions::Scale;
    return {{{"cycle", cycle}, {"iterations", iterations}}};
}
// Cyclical learning rates (Smith 2017): the rate rises from base_lr to max_lr in step_size_up steps, falls
// back in step_size_down steps, and so on.  Call step() after each batch.
class CyclicLR : public LRScheduler {
public:
    // Throws Error(argument) for options that are missing or out of range, and for cycle_momentum where a
    // group has no momentum.
    CyclicLR(Optimizer&, const CyclicOptions&);
    // The same with the other options' defaults.
    CyclicLR(Optimizer& optimizer, const PerGroup& base_lr, const PerGroup& max_lr,
             std::int64_t step_size_up = 2000)
        : CyclicLR(optimizer,
                   CyclicOptions{.base_lr = base_lr, .max_lr = max_lr, .step_size_up = step_size_up})
    {}

private:
    void update() override;
    void restart() override;
    void check() const;
    double height() const; // of this step, from 0 to 1
    CyclicOptions options_;
    const char* momentum_ = nullptr; // the option's name
};

using Schedulers = std::vector<std::shared_ptr<LRScheduler>>; // a list of schedules

// Runs schedules one after the other: at each milestone, which is an epoch, the next one begins with its
// epoch 0.
class SequentialLR : public LRScheduler {
public:
    // Throws Error(argument) unless the schedules belong to this optimizer, and there is one milestone fewer
    // than schedules, in rising order.
    SequentialLR(Optimizer&, Schedulers, std::vector<std::int64_t> milestones, std::int64_t last_epoch = -1);
    void step() override; // steps the active schedule

private:
    void undo() override;
    void restart() override;
    void keep(Keeper&) override;
    std::size_t at(std::int64_t epoch) const;
    Schedulers schedulers_;
    std::vector<std::int64_t> milestones_;
};

// Runs several schedules in each epoch: each one changes the rates that the previous one has set.
class ChainedScheduler : public LRScheduler {
public:
    // Throws Error(argument) unless there is at least one schedule, and all belong to one optimizer.
    explicit ChainedScheduler(Schedulers);
    void step() override; // steps each schedule

private:
    void undo() override;
    void restart() override;
    void keep(Keeper&) override;
    Schedulers schedulers_;
};

// Options of ReduceLROnPlateau.
struct ReduceLROnPlateauOptions {
    // Which metric is better.
    enum class Mode {
        min, // a smaller one
        max  // a larger one
    };
    Choice<Mode> mode = Mode::min; // which metric is better
    double factor = 0.1;           // the factor of a reduction, at least 0 and below 1
    std::int64_t patience = 10;    // epochs without improvement before a reduction
    double threshold = 1e-4;       // the smallest change that is an improvement
    // The change with which the threshold is compared.
    enum class Threshold {
        rel, // the change relative to the best metric
        abs  // the change itself
    };
    Choice<Threshold> threshold_mode = Threshold::rel; // what the threshold is compared with
    std::int64_t cooldown = 0;                         // epochs after a reduction that do not count
    PerGroup min_lr = 0.0;                             // the lowest rate: one for all groups, or one for each
    double eps = 1e-8;                                 // a rate is not changed by less
};
// PyTorch's names of ReduceLROnPlateauOptions::Mode.
inline constexpr ChoiceNames<ReduceLROnPlateauOptions::Mode, 2> names_of_choices(
    ReduceLROnPlateauOptions::Mode)
{
    using enum ReduceLROnPlateauOptions::Mode;
    return {{{"min", min}, {"max", max}}};
}
// PyTorch's names of ReduceLROnPlateauOptions::Threshold.
inline constexpr ChoiceNames<ReduceLROnPlateauOptions::Threshold, 2> names_of_choices(
    ReduceLROnPlateauOptions::Threshold)
{
    using enum ReduceLROnPlateauOptions::Threshold;
    return {{{"rel", rel}, {"abs", abs}}};
}
// Multiplies the rates by factor when a metric has stopped improving.
class ReduceLROnPlateau {
public:
    using SchedulerMode = ReduceLROnPlateauOptions::Mode;      // which metric is better
    using ThresholdMode = ReduceLROnPlateauOptions::Threshold; // what the threshold is compared with
    static constexpr SchedulerMode min = SchedulerMode::min,   // a smaller metric is better
        max = SchedulerMode::max;                              // a larger one is
    static constexpr ThresholdMode rel = ThresholdMode::rel,   // a relative change
        abs = ThresholdMode::abs;                              // an absolute one
    // The optimizer must outlive the schedule.  Throws Error(argument) for a factor out of range or another
    // number of min_lr.
    explicit ReduceLROnPlateau(Optimizer&, const ReduceLROnPlateauOptions& = {});
    // The same with libtorch's arguments.
    ReduceLROnPlateau(Optimizer& optimizer, Choice<SchedulerMode> mode, double factor = 0.1,
                      std::int64_t patience = 10, double threshold = 1e-4,
                      Choice<ThresholdMode> threshold_mode = ThresholdMode::rel, std::int64_t cooldown = 0,
                      const PerGroup& min_lr = 0.0, double eps = 1e-8);
    void step(double metric); // takes the metric of an epoch; Error(state) while a program is recorded
    std::int64_t last_epoch() const noexcept { return last_epoch_; } // the number of calls of step()
    const std::vector<double>& get_last_lr() const noexcept { return last_lr_; } // the rate of each group
    // Returns the state of the schedule, as LRScheduler::state_dict() does.
    StateDict state_dict() const;
    // Loads a result of state_dict().  Throws Error(argument), after which nothing has changed, for another
    // schedule's state; Error(state) while a program is recorded.
    void load_state_dict(const StateDict&);

private:
    static void check_not_recording();
    bool is_better(double metric) const;
    void keep(LRScheduler::Keeper&);
    void reduce();
    Optimizer& optimizer_;
    ReduceLROnPlateauOptions options_;
    std::vector<double> last_lr_;
    double best_;
    std::int64_t last_epoch_ = 0, bad_epochs_ = 0, cooldown_left_ = 0;
};

using ReduceLROnPlateauScheduler = ReduceLROnPlateau; // libtorch's name

// The schedules under Python's names.
namespace lr_scheduler {
using optim::ChainedScheduler, optim::ConstantLR, optim::CosineAnnealingLR,
    optim::CosineAnnealingWarmRestarts, optim::CyclicLR, optim::ExponentialLR, optim::LambdaLR,
    optim::LinearLR, optim::LRScheduler, optim::MultiStepLR, optim::OneCycleLR, optim::PolynomialLR,
    optim::ReduceLROnPlateau, optim::SequentialLR, optim::StepLR;
}

} // namespace reprise::optim
