// Schedules that are more than a formula of the epoch: cycles with momentum, sequences, chains, plateaus.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <reprise/program.hpp>

#include "optim/keeper.hpp"

namespace reprise::optim {

// ---- OneCycleLR ----

void OneCycleLR::check() const
{
    const OneCycleOptions& o = options_;
    if (total_ < 1) refuse("Give total_steps, or epochs and steps_per_epoch, of at least 1.");
    if (!(o.pct_start >= 0 && o.pct_start <= 1))
        refuse("The pct_start (" + std::to_string(o.pct_start) + ") must be from 0 to 1.");
    check_per_group("max_lr", o.max_lr);
}

std::vector<OneCycleLR::Phase> OneCycleLR::phases_of(double max_lr) const
{
    const OneCycleOptions& o = options_;
    const double initial = max_lr / o.div_factor, final_lr = initial / o.final_div_factor;
    const double low = o.base_momentum, high = o.max_momentum;
    const auto total = static_cast<double>(total_);
    std::vector<Phase> phases{{o.pct_start * total - 1, {initial, max_lr}, {high, low}}};
    if (o.three_phase) {
        phases.push_back({2 * o.pct_start * total - 2, {max_lr, initial}, {low, high}});
        phases.push_back({total - 1, {initial, final_lr}, {high, high}});
    } else {
        phases.push_back({total - 1, {max_lr, final_lr}, {low, high}});
    }
    return phases;
}

OneCycleLR::OneCycleLR(Optimizer& optimizer, const OneCycleOptions& options)
    : LRScheduler("OneCycleLR", optimizer, options.last_epoch), options_(options)
{
    if (options.total_steps) total_ = *options.total_steps;
    else if (options.epochs && options.steps_per_epoch) total_ = *options.epochs * *options.steps_per_epoch;
    check();
    if (options.cycle_momentum) momentum_ = name_of_momentum();
    for (std::size_t g = 0; g < optimizer.groups(); ++g) {
        phases_.push_back(phases_of(options.max_lr.of(g)));
        if (options.last_epoch == -1) optimizer.set_initial_learning_rate(phases_[g][0].rates[0], g);
    }
    begin();
}

void OneCycleLR::step()
{
    if (last_epoch_ >= total_)
        refuse("There is no step behind the last of (" + std::to_string(total_) + ").");
    LRScheduler::step();
}

void OneCycleLR::update()
{
    const auto epoch = static_cast<double>(last_epoch_);
    std::vector<double> rates;
    for (std::size_t g = 0; g < phases_.size(); ++g) {
        double begin = 0;
        std::size_t p = 0;
        for (; p + 1 < phases_[g].size() && epoch > phases_[g][p].end; ++p) begin = phases_[g][p].end;
        const Phase& phase = phases_[g][p];
        // A step after the last batch changes nothing, where PyTorch extrapolates beyond the end. If pct_start
        // covers one step only, the first phase has the length 0, by which PyTorch divides.
        const double done = phase.end > begin ? std::min((epoch - begin) / (phase.end - begin), 1.0) : 1.0;
        const auto annealed = [&](const double(&ends)[2]) {
            if (OneCycleOptions::Anneal(options_.anneal_strategy) == OneCycleOptions::Anneal::linear)
                return (ends[1] - ends[0]) * done + ends[0];
            return ends[1] + (ends[0] - ends[1]) / 2.0 * (std::cos(std::numbers::pi * done) + 1);
        };
        rates.push_back(annealed(phase.rates));
        if (options_.cycle_momentum) optimizer_.set_option(momentum_, annealed(phase.momenta), g);
    }
    set_rates(rates);
}

// ---- CyclicLR ----

CyclicLR::CyclicLR(Optimizer& optimizer, const CyclicOptions& options)
    : LRScheduler("CyclicLR", optimizer, options.last_epoch), options_(options)
{
    check();
    if (options.cycle_momentum) momentum_ = name_of_momentum();
    if (options.last_epoch == -1)
        for (std::size_t g = 0; g < optimizer.groups(); ++g)
            optimizer.set_initial_learning_rate(options.base_lr.of(g), g);
    begin();
}

void CyclicLR::check() const
{
    const CyclicOptions& o = options_;
    for (const std::int64_t size : {o.step_size_up, o.step_size_down.value_or(1)})
        if (size < 1) refuse("The step_size (" + std::to_string(size) + ") must be at least 1.");
    check_per_group("base_lr", o.base_lr);
    check_per_group("max_lr", o.max_lr);
    check_per_group("base_momentum", o.base_momentum);
    check_per_group("max_momentum", o.max_momentum);
}

double CyclicLR::height() const
{
    const CyclicOptions& o = options_;
    const auto up = static_cast<double>(o.step_size_up);
    const double total = up + static_cast<double>(o.step_size_down.value_or(o.step_size_up));
    const double rising = up / total, at = 1 + static_cast<double>(last_epoch_) / total;
    const double cycle = std::floor(at), x = at - cycle;
    const double height = x <= rising ? x / rising : (x - 1) / (rising - 1);
    if (o.scale_fn) {
        const bool by_cycle = CyclicOptions::Scale(o.scale_mode) == CyclicOptions::Scale::cycle;
        return height * o.scale_fn(by_cycle ? cycle : static_cast<double>(last_epoch_));
    }
    switch (CyclicOptions::Mode(o.mode)) {
    case CyclicOptions::Mode::triangular: return height;
    case CyclicOptions::Mode::triangular2: return height / std::pow(2.0, cycle - 1);
    case CyclicOptions::Mode::exp_range: break;
    }
    return height * std::pow(o.gamma, static_cast<double>(last_epoch_));
}

void CyclicLR::update()
{
    const CyclicOptions& o = options_;
    const double part = height();
    std::vector<double> rates;
    for (std::size_t g = 0; g < optimizer_.groups(); ++g) {
        rates.push_back(o.base_lr.of(g) + (o.max_lr.of(g) - o.base_lr.of(g)) * part);
        if (!momentum_) continue;
        const double max_momentum = o.max_momentum.of(g);
        optimizer_.set_option(momentum_, max_momentum - (max_momentum - o.base_momentum.of(g)) * part, g);
    }
    set_rates(rates);
}

void CyclicLR::restart()
{
    last_epoch_ = 0;
    update();
}

// ---- SequentialLR and ChainedScheduler ----

namespace {

Optimizer& optimizer_of(const char* name, const Schedulers& schedulers)
{
    if (schedulers.empty() || std::count(schedulers.begin(), schedulers.end(), nullptr) != 0)
        detail::fail(ErrorKind::argument, name, "Give at least one schedule, and no null pointer.");
    for (const auto& s : schedulers)
        if (&s->optimizer() != &schedulers[0]->optimizer())
            detail::fail(ErrorKind::argument, name, "The schedules belong to different optimizers.");
    return schedulers[0]->optimizer();
}

} // namespace

SequentialLR::SequentialLR(Optimizer& optimizer, Schedulers schedulers, std::vector<std::int64_t> milestones,
                           std::int64_t last_epoch)
    : LRScheduler("SequentialLR", optimizer_of("SequentialLR", schedulers), last_epoch + 1),
      schedulers_(std::move(schedulers)), milestones_(std::move(milestones))
{
    if (&optimizer != &optimizer_) refuse("The schedules belong to another optimizer.");
    if (milestones_.size() + 1 != schedulers_.size() ||
        !std::is_sorted(milestones_.begin(), milestones_.end()))
        refuse("There are (" + std::to_string(milestones_.size()) + ") milestones for (" +
               std::to_string(schedulers_.size()) + ") schedules: give one less, in rising order.");
    for (std::size_t g = 0; g < optimizer.groups(); ++g)
        optimizer.set_learning_rate(*optimizer.initial_learning_rate(g), g);
    undo();
    schedulers_[at(0)]->begin();
    set_last_lr();
}

std::size_t SequentialLR::at(std::int64_t epoch) const
{
    return static_cast<std::size_t>(std::upper_bound(milestones_.begin(), milestones_.end(), epoch) -
                                    milestones_.begin());
}

void SequentialLR::step()
{
    check_not_recording();
    ++last_epoch_;
    const std::size_t s = at(last_epoch_);
    if (s > 0 && milestones_[s - 1] == last_epoch_) schedulers_[s]->restart();
    else schedulers_[s]->step();
    set_last_lr();
}

void SequentialLR::undo()
{
    for (const auto& s : schedulers_) s->undo();
}

void SequentialLR::restart()
{
    last_epoch_ = 0;
    schedulers_[at(0)]->restart();
    set_last_lr();
}

void SequentialLR::keep(Keeper& k)
{
    LRScheduler::keep(k);
    k(schedulers_);
}

ChainedScheduler::ChainedScheduler(Schedulers schedulers)
    : LRScheduler("ChainedScheduler", optimizer_of("ChainedScheduler", schedulers), 0),
      schedulers_(std::move(schedulers))
{}

void ChainedScheduler::step()
{
    check_not_recording();
    ++last_epoch_;
    for (const auto& s : schedulers_) s->step();
    set_last_lr();
}

void ChainedScheduler::undo()
{
    for (const auto& s : schedulers_) s->undo();
}

void ChainedScheduler::restart()
{
    last_epoch_ = 0;
    for (std::size_t g = 0; g < optimizer_.groups(); ++g) optimizer_.set_learning_rate(base(g), g);
    for (const auto& s : schedulers_) {
        s->last_epoch_ = -1;
        s->begin();
    }
    set_last_lr();
}

void ChainedScheduler::keep(Keeper& k)
{
    LRScheduler::keep(k);
    k(schedulers_);
}

// ---- ReduceLROnPlateau ----

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, const ReduceLROnPlateauOptions& options)
    : optimizer_(optimizer), options_(options),
      best_((SchedulerMode(options.mode) == SchedulerMode::min ? 1 : -1) *
            std::numeric_limits<double>::infinity())
{
    constexpr const char* name = "ReduceLROnPlateau";
    if (!(options.factor >= 0 && options.factor < 1))
        detail::fail(ErrorKind::argument, name, "The factor (", options.factor,
                     ") must be at least 0 and below 1.");
    if (options.min_lr.size() != 1 && options.min_lr.size() != optimizer.groups())
        detail::fail(ErrorKind::argument, name, "There are (", options.min_lr.size(),
                     ") numbers min_lr for (", optimizer.groups(),
                     ") groups: give one for all or one for each.");
    for (std::size_t g = 0; g < optimizer.groups(); ++g) last_lr_.push_back(optimizer.learning_rate(g));
}

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, Choice<SchedulerMode> mode, double factor,
                                     std::int64_t patience, double threshold,
                                     Choice<ThresholdMode> threshold_mode, std::int64_t cooldown,
                                     const PerGroup& min_lr, double eps)
    : ReduceLROnPlateau(optimizer, ReduceLROnPlateauOptions{.mode = mode,
                                                            .factor = factor,
                                                            .patience = patience,
                                                            .threshold = threshold,
                                                            .threshold_mode = threshold_mode,
                                                            .cooldown = cooldown,
                                                            .min_lr = min_lr,
                                                            .eps = eps})
{}

void ReduceLROnPlateau::check_not_recording()
{
    if (is_recording())
        detail::fail(ErrorKind::state, "ReduceLROnPlateau",
                     "A schedule works between the calls of a program, which follows it: it can't be used "
                     "while a program is recorded.");
}

bool ReduceLROnPlateau::is_better(double metric) const
{
    const bool relative = ThresholdMode(options_.threshold_mode) == ThresholdMode::rel;
    if (SchedulerMode(options_.mode) == SchedulerMode::min)
        return metric < (relative ? best_ * (1 - options_.threshold) : best_ - options_.threshold);
    return metric > (relative ? best_ * (options_.threshold + 1) : best_ + options_.threshold);
}

void ReduceLROnPlateau::reduce()
{
    for (std::size_t g = 0; g < last_lr_.size(); ++g) {
        const double min_lr = options_.min_lr.of(g);
        const double before = optimizer_.learning_rate(g), after = std::max(before * options_.factor, min_lr);
        if (before - after > options_.eps) optimizer_.set_learning_rate(after, g);
    }
}

void ReduceLROnPlateau::step(double metric)
{
    check_not_recording();
    ++last_epoch_;
    if (is_better(metric)) {
        best_ = metric;
        bad_epochs_ = 0;
    } else {
        ++bad_epochs_;
    }
    if (cooldown_left_ > 0) {
        --cooldown_left_;
        bad_epochs_ = 0;
    }
    if (bad_epochs_ > options_.patience) {
        reduce();
        cooldown_left_ = options_.cooldown;
        bad_epochs_ = 0;
    }
    for (std::size_t g = 0; g < last_lr_.size(); ++g) last_lr_[g] = optimizer_.learning_rate(g);
}

void ReduceLROnPlateau::keep(LRScheduler::Keeper& k)
{
    k("last_epoch", last_epoch_);
    k("best", best_);
    k("num_bad_epochs", bad_epochs_);
    k("cooldown_counter", cooldown_left_);
    k("last_lr", last_lr_);
}

StateDict ReduceLROnPlateau::state_dict() const
{
    return LRScheduler::Keeper::save([this](LRScheduler::Keeper& k) {
        const_cast<ReduceLROnPlateau*>(this)->keep(k); // saving does not modify it
    });
}

void ReduceLROnPlateau::load_state_dict(const StateDict& entries)
{
    check_not_recording();
    LRScheduler::Keeper::load(entries, [this](LRScheduler::Keeper& k) { keep(k); });
}

} // namespace reprise::optim
