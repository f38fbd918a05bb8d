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
                          std::shared_ptr<OptimizerOptions> named)
{
    check_parameters(parameters);
    for (std::size_t i = 0; i < values.size(); ++i) check_option(i, values[i]);
    groups_.push_back({.first = parameters_.size(),
                       .count = parameters.size(),
                       .moments = std::move(moments),
                       .values = std::make_shared<std::vector<double>>(std::move(values)),
                       .initial_lr = std::nullopt});
    parameters_.insert(parameters_.end(), parameters.begin(), parameters.end());
    moments_.resize(parameters_.size());
    {
        const std::lock_guard lock(steps_->mutex);
        steps_->made.resize(parameters_.size());
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

// ---- steps ----

// The state of one call of step(); a program runs it again at each call. It counts the steps of the parameters that
// have a gradient, and computes a program's numbers that depend on these counts. Most parameters of a group have the
// same count, so the last number computed is cached, until the next call of the program: options may have changed then.
class Optimizer::Call {
public:
    Call(std::shared_ptr<Steps> steps, decltype(Rule::number) f) : steps_(std::move(steps)), f_(f) {}

    std::size_t add_group(std::shared_ptr<std::vector<double>> options, std::size_t numbers)
    {
        groups_.push_back({std::move(options), std::vector<Last>(numbers)});
        return groups_.size() - 1;
    }
    std::size_t add_parameter(std::size_t index, std::int64_t step)
    {
        parameters_.push_back({index, step});
        return parameters_.size() - 1;
    }
    double at(std::size_t group, std::size_t number, std::size_t parameter)
    {
        const std::lock_guard lock(steps_->mutex);
        GroupNumbers& numbers = groups_[group];
        Last& last = numbers.last[number];
        const std::int64_t step = parameters_[parameter].step;
        if (last.step != step) last = {step, f_(number, numbers.options->data(), step)};
        return last.value;
    }

    void begin()
    {
        const std::lock_guard lock(steps_->mutex);
        for (Parameter& p : parameters_) p.step = ++steps_->made[p.index];
        for (GroupNumbers& g : groups_) std::fill(g.last.begin(), g.last.end(), Last());
    }
    void undo()
    {
        const std::lock_guard lock(steps_->mutex);
        for (const Parameter& p : parameters_) --steps_->made[p.index];
    }

private:
    struct Last { // the number at the step for which it was computed last
        std::int64_t step = -1;
        double value = 0;
    };
    struct GroupNumbers {
        std::shared_ptr<std::vector<double>> options;
        std::vector<Last> last;
    };
    struct Parameter {
        std::size_t index; // in the parameters of the optimizer
        std::int64_t step;
    };
    std::shared_ptr<Steps> steps_;
    decltype(Rule::number) f_;
    std::vector<GroupNumbers> groups_;
    std::vector<Parameter> parameters_;
};

std::int64_t Optimizer::made(std::size_t index) const
{
    const std::lock_guard lock(steps_->mutex);
    return steps_->made[index];
}

void Optimizer::make_moments(const Group& g, std::size_t index)
{
    if (moments_[index].size() == g.moments.size()) return;
    const outside_recording here;
    const Variable& p = parameters_[index];
    std::vector<Variable> made;
    for (const Moment& m : g.moments)
        made.emplace_back(full(m.one ? Shape() : p.shape(), m.initial,
                               {.dtype = m.one ? f32 : p.dtype(), .device = p.device()}),
                          false);
    moments_[index] = std::move(made);
}

void Optimizer::step()
{
    const no_grad guard;
    struct Pending {
        std::vector<std::size_t> indices;
        std::vector<std::vector<Tensor>> values;
    };
    std::vector<Pending> pending;
    // A program may contain several calls of step(). Each has its own Call, which on_each_call() below updates.
    const auto call = std::make_shared<Call>(steps_, rule_.number);
    const bool recording = is_recording();
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        const Group& group = groups_[g];
        const std::size_t group_in_call = call->add_group(group.values, rule_.numbers);
        std::optional<Device> before;
        std::int64_t step_before = 0;
        // Tensors of one element with a value that the host knows: they need no memory and no launch.
        std::vector<Tensor> numbers(rule_.numbers);
        std::vector<std::size_t> indices; // of the parameters that use these numbers
        std::vector<StepOf> together;
        const auto update = [&] {
            if (!together.empty()) pending.push_back({std::move(indices), updated({g, together, numbers})});
            indices.clear();
            together.clear();
        };
        for (std::size_t i = group.first; i < group.first + group.count; ++i) {
            Tensor gradient = parameters_[i].grad();
            if (!gradient.defined()) continue;
            make_moments(group, i);
            const Device device = parameters_[i].device();
            const std::int64_t step = made(i) + 1;
            const std::size_t p = call->add_parameter(i, step);
            const bool own_step = recording || step != step_before;
            const auto is_own = [&](std::size_t n) { return own_step && (rule_.by_step >> n & 1u) != 0; };
            if (before != device || (own_step && rule_.by_step != 0)) update();
            for (std::size_t n = 0; n < rule_.numbers; ++n) {
                if (before == device && !is_own(n)) continue; // shared with the previous parameter
                if (!recording)
                    numbers[n] = full({}, rule_.number(n, group.values->data(), step), {.device = device});
                else if (is_own(n)) numbers[n] = host_scalar([=] { return call->at(group_in_call, n, p); });
                else
                    numbers[n] = host_scalar(
                        [f = rule_.number, values = group.values, n] { return f(n, values->data(), 0); });
            }
            before = device;
            step_before = step;
            indices.push_back(i);
            together.push_back(
                {parameters_[i], std::move(gradient), {moments_[i].begin(), moments_[i].end()}});
        }
        update();
    }
    on_each_call([call] { call->begin(); }, [call] { call->undo(); });
    for (const Pending& p : pending)
        for (std::size_t k = 0; k < p.indices.size(); ++k) {
            parameters_[p.indices[k]].assign(p.values[k][0]);
            std::vector<Variable>& moments = moments_[p.indices[k]];
            for (std::size_t m = 0; m < moments.size(); ++m) moments[m].assign(p.values[k][m + 1]);
        }
    if (recording) return;
    std::vector<Tensor> all; // evaluated together: forward, backward and update
    for (const Pending& p : pending)
        for (const auto& values : p.values) all.insert(all.end(), values.begin(), values.end());
    try {
        eval(all);
    } catch (const Error& error) {
        // The step has been made, and its values stay pending: reading them throws this error again.
        if (error.kind() == ErrorKind::device_lost) throw;
    }
}

} // namespace reprise::optim
