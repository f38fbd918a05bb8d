// Schedules with a formula for each epoch. A new rate is computed from the present one, as in PyTorch, so that several
// schedules may change the rates of one optimizer.
#include <reprise/optim/lr_scheduler.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <reprise/program.hpp>

#include "optim/keeper.hpp"

namespace reprise::optim {

using std::numbers::pi;

LRScheduler::LRScheduler(const char* name, Optimizer& optimizer, std::int64_t last_epoch)
    : name_(name), optimizer_(optimizer), last_epoch_(last_epoch)
{
    check_not_recording();
    for (std::size_t g = 0; g < optimizer.groups(); ++g) {
        if (!optimizer.initial_learning_rate(g)) {
            if (last_epoch != -1)
                refuse("The group (" + std::to_string(g) +
                       ") has no initial learning rate to go on from: load the optimizer's state first.");
            optimizer.set_initial_learning_rate(optimizer.learning_rate(g), g);
        }
        base_.push_back(*optimizer.initial_learning_rate(g));
    }
    set_last_lr();
}

void LRScheduler::refuse(const std::string& sentence) const
{
    detail::fail(ErrorKind::argument, name_, sentence);
}

void LRScheduler::check_per_group(const char* what, const PerGroup& numbers) const
{
    if (numbers.size() != 1 && numbers.size() != optimizer_.groups())
        refuse("There are (" + std::to_string(numbers.size()) + ") numbers " + what + " for (" +
               std::to_string(optimizer_.groups()) + ") groups: give one for all or one for each.");
}

const char* LRScheduler::name_of_momentum() const
{
    if (optimizer_.has_option("beta1")) return "beta1";
    if (!optimizer_.has_option("momentum"))
        refuse("The optimizer has neither a momentum nor a beta1: give cycle_momentum = false.");
    for (std::size_t g = 0; g < optimizer_.groups(); ++g)
        if (optimizer_.option("momentum", g) == 0)
            refuse("The group (" + std::to_string(g) +
                   ") has no momentum: make the optimizer with one above 0, or give cycle_momentum = false.");
    return "momentum";
}

void LRScheduler::check_not_recording() const
{
    if (is_recording())
        detail::fail(ErrorKind::state, name_,
                     "A schedule works between the calls of a program, which follows it: it can't be used "
                     "while a program is recorded.");
}

void LRScheduler::begin()
{
    beginning_ = true;
    step();
    beginning_ = false;
}

void LRScheduler::step()
{
    check_not_recording();
    ++last_epoch_;
    update();
}

double LRScheduler::rate(std::size_t group) const { return now(group); }

void LRScheduler::update()
{
    std::vector<double> rates;
    for (std::size_t g = 0; g < base_.size(); ++g) rates.push_back(rate(g));
    set_rates(rates);
}

void LRScheduler::restart()
{
    last_epoch_ = 0;
    std::vector<double> rates;
    for (std::size_t g = 0; g < base_.size(); ++g) rates.push_back(first(g));
    set_rates(rates);
}

void LRScheduler::set_rates(const std::vector<double>& rates)
{
    for (std::size_t g = 0; g < rates.size(); ++g) optimizer_.set_learning_rate(rates[g], g);
    set_last_lr();
}

void LRScheduler::set_last_lr()
{
    last_lr_.clear();
    for (std::size_t g = 0; g < base_.size(); ++g) last_lr_.push_back(now(g));
}

void LRScheduler::keep(Keeper& k)
{
    k("last_epoch", last_epoch_);
    k("base_lrs", base_);
    k("last_lr", last_lr_);
}

StateDict LRScheduler::state_dict() const
{
    return Keeper::save(
        [this](Keeper& k) { const_cast<LRScheduler*>(this)->keep(k); }); // saving does not modify it
}

void LRScheduler::load_state_dict(const StateDict& entries)
{
    check_not_recording();
    Keeper::load(entries, [this](Keeper& k) { keep(k); });
}

namespace {

double power(double x, std::int64_t n) { return std::pow(x, static_cast<double>(n)); }

void check_positive(const char* name, const char* what, std::int64_t value)
{
    if (value < 1)
        detail::fail(ErrorKind::argument, name, "The ", what, " (", value, ") must be at least 1.");
}

void check_factor(const char* name, const char* what, double value)
{
    if (!(value >= 0 && value <= 1))
        detail::fail(ErrorKind::argument, name, "The ", what, " (", value, ") must be from 0 to 1.");
}

} // namespace

StepLR::StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma, std::int64_t last_epoch)
    : LRScheduler("StepLR", optimizer, last_epoch), step_size_(step_size), gamma_(gamma)
{
    check_positive(name_, "step_size", step_size);
    begin();
}

double StepLR::rate(std::size_t group) const
{
    return last_epoch_ == 0 || last_epoch_ % step_size_ != 0 ? now(group) : now(group) * gamma_;
}

double StepLR::first(std::size_t group) const { return base(group); }

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma,
                         std::int64_t last_epoch)
    : LRScheduler("MultiStepLR", optimizer, last_epoch), milestones_(std::move(milestones)), gamma_(gamma)
{
    begin();
}

double MultiStepLR::rate(std::size_t group) const
{
    const auto times = std::count(milestones_.begin(), milestones_.end(), last_epoch_);
    return times == 0 ? now(group) : now(group) * power(gamma_, times);
}

double MultiStepLR::first(std::size_t group) const
{
    return base(group) * power(gamma_, std::count_if(milestones_.begin(), milestones_.end(),
                                                     [](std::int64_t m) { return m <= 0; }));
}

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, std::int64_t total_iters, std::int64_t last_epoch)
    : LRScheduler("ConstantLR", optimizer, last_epoch), factor_(factor), total_iters_(total_iters)
{
    check_factor(name_, "factor", factor);
    if (factor == 0) refuse("The factor (0) must be above 0: the rate is divided by it later.");
    begin();
}

double ConstantLR::rate(std::size_t group) const
{
    if (last_epoch_ == 0) return now(group) * factor_;
    return last_epoch_ != total_iters_ ? now(group) : now(group) * (1.0 / factor_);
}

double ConstantLR::first(std::size_t group) const { return base(group) * (total_iters_ <= 0 ? 1 : factor_); }

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor, std::int64_t total_iters,
                   std::int64_t last_epoch)
    : LRScheduler("LinearLR", optimizer, last_epoch), start_(start_factor), end_(end_factor),
      total_iters_(total_iters)
{
    check_factor(name_, "start_factor", start_factor);
    if (start_factor == 0)
        refuse("The start_factor (0) must be above 0: later rates are multiples of the first.");
    check_factor(name_, "end_factor", end_factor);
    check_positive(name_, "total_iters", total_iters);
    begin();
}

double LinearLR::rate(std::size_t group) const
{
    if (last_epoch_ == 0) return now(group) * start_;
    if (beginning() || last_epoch_ > total_iters_) return now(group);
    const double before =
        static_cast<double>(total_iters_) * start_ + static_cast<double>(last_epoch_ - 1) * (end_ - start_);
    return now(group) * (1.0 + (end_ - start_) / before);
}

double LinearLR::first(std::size_t group) const { return base(group) * start_; }

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma, std::int64_t last_epoch)
    : LRScheduler("ExponentialLR", optimizer, last_epoch), gamma_(gamma)
{
    begin();
}

double ExponentialLR::rate(std::size_t group) const { return beginning() ? now(group) : now(group) * gamma_; }
double ExponentialLR::first(std::size_t group) const { return base(group); }

PolynomialLR::PolynomialLR(Optimizer& optimizer, std::int64_t total_iters, double power,
                           std::int64_t last_epoch)
    : LRScheduler("PolynomialLR", optimizer, last_epoch), total_iters_(total_iters), power_(power)
{
    check_positive(name_, "total_iters", total_iters);
    begin();
}

double PolynomialLR::rate(std::size_t group) const
{
    if (beginning() || last_epoch_ > total_iters_) return now(group);
    const auto left = [this](std::int64_t epoch) {
        return 1.0 - static_cast<double>(epoch) / static_cast<double>(total_iters_);
    };
    return now(group) * std::pow(left(last_epoch_) / left(last_epoch_ - 1), power_);
}

double PolynomialLR::first(std::size_t group) const { return base(group); }

LambdaLR::LambdaLR(Optimizer& optimizer, Function f, std::int64_t last_epoch)
    : LambdaLR(optimizer, std::vector<Function>(optimizer.groups(), f), last_epoch)
{}

LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<Function> functions, std::int64_t last_epoch)
    : LRScheduler("LambdaLR", optimizer, last_epoch), functions_(std::move(functions))
{
    if (functions_.size() != optimizer.groups())
        refuse("There are (" + std::to_string(functions_.size()) + ") functions for (" +
               std::to_string(optimizer.groups()) + ") groups: give one for all or one for each.");
    for (const Function& f : functions_)
        if (!f) refuse("A function is null: give one that returns the factor at an epoch.");
    begin();
}

double LambdaLR::rate(std::size_t group) const { return base(group) * functions_[group](last_epoch_); }

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, std::int64_t T_max, double eta_min,
                                     std::int64_t last_epoch)
    : LRScheduler("CosineAnnealingLR", optimizer, last_epoch), period_(T_max), least_(eta_min)
{
    check_positive(name_, "T_max", T_max);
    begin();
}

double CosineAnnealingLR::rate(std::size_t group) const
{
    if (beginning()) return now(group);
    const auto period = static_cast<double>(period_);
    if ((last_epoch_ - 1 - period_) % (2 * period_) == 0)
        return now(group) + (base(group) - least_) * (1 - std::cos(pi / period)) / 2;
    const auto height = [&](std::int64_t epoch) {
        return 1 + std::cos(pi * static_cast<double>(epoch) / period);
    };
    return height(last_epoch_) / height(last_epoch_ - 1) * (now(group) - least_) + least_;
}

double CosineAnnealingLR::first(std::size_t group) const { return least_ + (base(group) - least_); }

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, std::int64_t T_0,
                                                         std::int64_t T_mult, double eta_min,
                                                         std::int64_t last_epoch)
    : LRScheduler("CosineAnnealingWarmRestarts", optimizer, last_epoch), first_(T_0), times_(T_mult),
      least_(eta_min), current_(static_cast<double>(last_epoch)), period_(static_cast<double>(T_0))
{
    check_positive(name_, "T_0", T_0);
    check_positive(name_, "T_mult", T_mult);
    begin();
}

double CosineAnnealingWarmRestarts::rate(std::size_t group) const
{
    return least_ + (base(group) - least_) * (1 + std::cos(pi * current_ / period_)) / 2;
}

void CosineAnnealingWarmRestarts::step()
{
    if (last_epoch_ < 0) return step(0.0);
    check_not_recording();
    ++last_epoch_;
    current_ += 1;
    if (current_ >= period_) {
        current_ = std::fmod(current_, period_);
        period_ *= static_cast<double>(times_);
    }
    update();
}

void CosineAnnealingWarmRestarts::step(double epoch)
{
    check_not_recording();
    if (!(epoch >= 0)) refuse("The epoch (" + std::to_string(epoch) + ") must be at least 0.");
    current_ = epoch;
    period_ = static_cast<double>(first_);
    while (current_ >= period_) { // few iterations, as periods grow by the factor times_
        if (times_ == 1) {
            current_ = std::fmod(current_, period_);
            break;
        }
        current_ -= period_;
        period_ *= static_cast<double>(times_);
    }
    last_epoch_ = static_cast<std::int64_t>(std::floor(epoch));
    update();
}

void CosineAnnealingWarmRestarts::keep(Keeper& k)
{
    LRScheduler::keep(k);
    k("T_cur", current_);
    k("T_i", period_);
}

} // namespace reprise::optim
