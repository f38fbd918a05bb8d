#include <reprise/optim/optimizer.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_set>

#include <reprise/autograd.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/program.hpp>

#include "optim/clear_gradients.hpp"

namespace reprise::optim {

using detail::fail;

// ---- options ----

OptimizerOptions& OptimizerOptions::operator=(const OptimizerOptions&)
{
    check_free("options");
    return *this;
}

double OptimizerOptions::number(const char* name, double own) const
{
    return optimizer_ ? optimizer_->option(name, group_) : own;
}

void OptimizerOptions::set_number(const char* name, double value)
{
    if (optimizer_) optimizer_->set_option(name, value, group_);
}

void OptimizerOptions::check_free(const char* name) const
{
    if (optimizer_)
        fail(ErrorKind::argument, "options", "The (", name,
             ") of a group can't change: set its numbers one by one, or make the optimizer anew.");
}

OptimizerOptions* OptimizerParamGroup::checked() const
{
    if (!options_)
        fail(ErrorKind::argument, "options", "The group has no options of its own: ask has_options() first.");
    return options_.get();
}

// ---- parameters and their groups ----

void Optimizer::check_parameters(const Parameters& parameters) const
{
    if (parameters.empty())
        fail(ErrorKind::argument, rule_.op,
             "There are no parameters: give those of a module, net.parameters().");
    std::unordered_set<const void*> seen;
    for (const Variable& existing : parameters_) seen.insert(existing.cell().get());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Variable& parameter = parameters[i];
        const std::size_t index = parameters_.size() + i;
        if (!parameter.defined())
            fail(ErrorKind::argument, rule_.op, "The parameter with index (", index, ") is undefined.");
        if (!parameter.is_leaf())
            fail(ErrorKind::argument, rule_.op, "The parameter with index (", index,
                 ") is no leaf but the result of an op: can't optimize a non-leaf tensor.");
        if (!parameter.requires_grad())
            fail(ErrorKind::argument, rule_.op, "The parameter with index (", index,
                 ") requires no gradient: call requires_grad_() on it, or leave it out.");
        if (!seen.insert(parameter.cell().get()).second)
            fail(ErrorKind::argument, rule_.op, "The parameter with index (", index,
                 ") comes twice: give each once.");
    }
}

void Optimizer::check_option(std::size_t option, double value) const
{
    const GroupNumber& o = rule_.options[option];
    if (value >= o.low && value < o.below) return;
    if (std::isinf(o.below))
        fail(ErrorKind::argument, rule_.op, "The ", o.name, " (", value, ") must be a number of at least ",
             o.low, ".");
    fail(ErrorKind::argument, rule_.op, "The ", o.name, " (", value, ") must be at least ", o.low,
         " and below ", o.below, ".");
}

void Optimizer::check_change(std::size_t option, double before, double value) const
{
    check_option(option, value);
    const GroupNumber& o = rule_.options[option];
    if (o.stays_zero && (before == 0) != (value == 0))
        fail(ErrorKind::argument, rule_.op, "The ", o.name, " (", value, ") of a group that has (", before,
             ") can't be set: whether it is 0 decides what the group keeps, so make the optimizer anew.");
}

void Optimizer::add_group(Parameters parameters, std::vector<double> values, std::vector<Moment> moments,
                          std::shared_ptr<OptimizerOptions> named, const Precision& precision)
{
    check_parameters(parameters);
    if (!rule_.low_precision &&
        (precision.stochastic_rounding || precision.moments == MomentFormat::eight_bit))
        fail(ErrorKind::unsupported, rule_.op,
             "This optimizer has neither stochastic rounding nor moments in 8 bits, as SGD, Adam, AdamW, "
             "RMSprop, Adagrad and Lion have.");
    for (std::size_t i = 0; i < values.size(); ++i) check_option(i, values[i]);
    parameters = to_update(parameters);
    groups_.push_back({.first = parameters_.size(),
                       .count = parameters.size(),
                       .moments = std::move(moments),
                       .precision = precision,
                       .values = std::make_shared<std::vector<double>>(std::move(values)),
                       .initial_lr = std::nullopt,
                       .made = {}});
    parameters_.insert(parameters_.end(), parameters.begin(), parameters.end());
    moments_.resize(parameters_.size());
    {
        const std::lock_guard lock(steps_->mutex);
        steps_->made.resize(parameters_.size());
        steps_->on_device.resize(groups_.size());
    }
    const std::size_t index = groups_.size() - 1;
    if (named) {
        named->optimizer_ = this;
        named->group_ = index;
    }
    views_.emplace_back(*this, index, std::move(named));
}

const Optimizer::Group& Optimizer::group(std::size_t index) const
{
    if (index >= groups_.size())
        fail(ErrorKind::argument, rule_.op, "There is no group (", index, "): there are ", groups_.size(),
             ".");
    return groups_[index];
}

std::size_t Optimizer::option_index(const std::string& name) const
{
    std::string names;
    for (std::size_t i = 0; i < rule_.options.size(); ++i) {
        if (name == rule_.options[i].name) return i;
        names += (i ? ", " : "") + std::string(rule_.options[i].name);
    }
    fail(ErrorKind::argument, rule_.op, "There is no number (", name, "): a group has ", names, ".");
}

Parameters Optimizer::parameters(std::size_t index) const
{
    const Group& g = group(index);
    const auto first = parameters_.begin() + static_cast<std::ptrdiff_t>(g.first);
    return std::vector<Variable>(first, first + static_cast<std::ptrdiff_t>(g.count));
}

bool Optimizer::has_option(const std::string& name) const
{
    return std::any_of(rule_.options.begin(), rule_.options.end(),
                       [&](const GroupNumber& o) { return name == o.name; });
}

double Optimizer::option(const std::string& name, std::size_t index) const
{
    return (*group(index).values)[option_index(name)];
}

void Optimizer::set_option(const std::string& name, double value, std::size_t index)
{
    const std::size_t option = option_index(name);
    double& now = (*group(index).values)[option];
    check_change(option, now, value);
    now = value;
}

void Optimizer::set_learning_rate(double value)
{
    check_option(0, value);
    for (const Group& g : groups_) g.values->front() = value;
}

std::optional<double> Optimizer::initial_learning_rate(std::size_t index) const
{
    return group(index).initial_lr;
}

void Optimizer::set_initial_learning_rate(double value, std::size_t index)
{
    check_option(0, value);
    group(index);
    groups_[index].initial_lr = value;
}

void Optimizer::zero_grad(bool set_to_none) { clear_gradients(parameters_, set_to_none); }

Tensor Optimizer::step(const std::function<Tensor()>& closure)
{
    if (!closure)
        fail(ErrorKind::argument, rule_.op, "The closure is a null function: call step() without one.");
    Tensor loss;
    {
        const enable_grad guard;
        loss = closure();
    }
    step();
    return loss;
}

} // namespace reprise::optim
