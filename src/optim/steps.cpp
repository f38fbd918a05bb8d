// Steps of optimizers: which parameters are updated together, and by which numbers.
#include <algorithm>
#include <cmath>
#include <functional>

#include <reprise/autograd.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/optim/optimizer.hpp>
#include <reprise/program.hpp>

namespace reprise::optim {

using detail::fail;

// ---- numbers where the device counts the steps ----

template <class F> Tensor DeviceStep::number(F f) const
{
    if (!is_recording()) return full({}, f(options_->data()), {.device = t_.device()});
    return host_scalar([options = options_, f] { return f(options->data()); });
}

Tensor DeviceStep::option(std::size_t i) const
{
    return number([i](const double* o) { return o[i]; });
}
Tensor DeviceStep::of(double (*f)(const double*)) const { return number(f); }
Tensor DeviceStep::power(std::size_t i) const
{
    return exp(t_ * number([i](const double* o) { return std::log(o[i]); }));
}
Tensor DeviceStep::one_minus_power(std::size_t i) const
{
    return -expm1(t_ * number([i](const double* o) { return std::log(o[i]); }));
}

// ---- numbers where the host counts the steps ----

// The state of one call of step(); a program runs it again at each call. It counts the steps of the parameters that
// have a gradient, and computes a program's numbers that depend on these counts. Most parameters of a group have the
// same count, so the last number computed is cached, until the next call of the program: options may have changed then.
class Optimizer::Call {
public:
    Call(std::shared_ptr<Steps> steps, const Rule& rule)
        : steps_(std::move(steps)), op_(rule.op), number_(rule.number)
    {}

    std::size_t add_group(std::size_t index, std::shared_ptr<std::vector<double>> options,
                          std::size_t numbers)
    {
        groups_.push_back({index, std::move(options), std::vector<Last>(numbers)});
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
        if (last.step != step) last = {step, number_(number, HostStep(numbers.options->data(), step))};
        return last.value;
    }

    void begin()
    {
        const std::lock_guard lock(steps_->mutex);
        for (const GroupNumbers& g : groups_)
            if (steps_->on_device[g.index])
                fail(ErrorKind::state, op_, "The group (", g.index,
                     ") counts its steps on the device since step_unless() was called, but the program was "
                     "recorded "
                     "with step() before that: record it again.");
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
        std::size_t index; // in the groups of the optimizer
        std::shared_ptr<std::vector<double>> options;
        std::vector<Last> last;
    };
    struct Parameter {
        std::size_t index; // in the parameters of the optimizer
        std::int64_t step;
    };
    std::shared_ptr<Steps> steps_;
    const char* op_;
    decltype(Rule::number) number_;
    std::vector<GroupNumbers> groups_;
    std::vector<Parameter> parameters_;
};

// ---- the counts ----

std::vector<std::int64_t> Optimizer::made(const Group& g) const
{
    if (g.made.defined()) {
        const std::vector<std::int32_t> counts = g.made.to_vector<std::int32_t>();
        return {counts.begin(), counts.end()};
    }
    const std::lock_guard lock(steps_->mutex);
    const auto first = steps_->made.begin() + static_cast<std::ptrdiff_t>(g.first);
    return {first, first + static_cast<std::ptrdiff_t>(g.count)};
}

std::int64_t Optimizer::made(std::size_t index) const
{
    const std::lock_guard lock(steps_->mutex);
    return steps_->made[index];
}

void Optimizer::set_made(Group& g, const std::vector<std::int64_t>& counts)
{
    if (g.made.defined()) {
        const std::vector<std::int32_t> narrow(counts.begin(), counts.end());
        g.made.assign(from_vector(narrow, g.made.shape(), {.device = g.made.device()}));
        return;
    }
    const std::lock_guard lock(steps_->mutex);
    std::copy(counts.begin(), counts.end(), steps_->made.begin() + static_cast<std::ptrdiff_t>(g.first));
}

void Optimizer::check_device(const Device& device) const
{
    if (rule_.by_step != 0 && !rule_.number_on_device)
        fail(ErrorKind::unsupported, rule_.op,
             "This optimizer has no Rule::number_on_device, which step_unless() needs: call step().");
    for (std::size_t i = 0; i < parameters_.size(); ++i)
        if (parameters_[i].device() != device)
            fail(ErrorKind::argument, rule_.op, "The parameter with index (", i, ") is on ",
                 parameters_[i].device(), " but skip is on ", device,
                 ": give the parameters of each device an optimizer.");
}

void Optimizer::count_on_device(std::size_t index, const Device& device)
{
    Group& g = groups_[index];
    if (g.made.defined()) return;
    const outside_recording here;
    const std::vector<std::int64_t> counts = made(g);
    const std::vector<std::int32_t> narrow(counts.begin(), counts.end());
    g.made = Variable(from_vector(narrow, {static_cast<std::int64_t>(g.count)}, {.device = device}), false);
    const std::lock_guard lock(steps_->mutex);
    steps_->on_device[index] = true;
}

// ---- the state of a parameter ----

bool Optimizer::has_elements(std::size_t index, const std::string& entry) const
{
    const auto of = std::find_if(groups_.begin(), groups_.end(),
                                 [&](const Group& g) { return index < g.first + g.count; });
    if (of == groups_.end()) return false;
    return entry == "master_param" || std::any_of(of->moments.begin(), of->moments.end(),
                                                  [&](const Moment& m) { return entry == m.name && !m.one; });
}

// What the state has, where there is one: the parameter's dtype may have changed since.
bool Optimizer::has_master(const Group& g, std::size_t index) const
{
    if (!moments_[index].empty()) return moments_[index].size() > g.moments.size();
    const DType t = parameters_[index].dtype();
    return g.precision.master_weights && (t == f16 || t == bf16);
}

namespace {

// Returns the dtype of a new moment, u8 for blocks of 8 bits; `wide`: automatic ones are f32.
DType moment_dtype(MomentFormat format, DType parameter, bool wide)
{
    if (parameter == f64) return f64;
    switch (format) {
    case MomentFormat::f32: return f32;
    case MomentFormat::bf16: return bf16;
    case MomentFormat::eight_bit: return u8;
    default: return wide ? f32 : parameter; // automatic
    }
}

} // namespace

std::vector<std::pair<std::string, Tensor>> Optimizer::initial_state(const Group& g, std::size_t index) const
{
    const outside_recording here;
    const Variable& p = parameters_[index];
    const bool master = has_master(g, index);
    const std::vector<Variable>& made = moments_[index]; // keeps its dtypes where the parameter's has changed
    std::vector<std::pair<std::string, Tensor>> out;
    for (const Moment& m : g.moments) {
        const DType dtype = m.one ? f32
                            : made.empty()
                                ? moment_dtype(g.precision.moments, p.dtype(), master || m.needs_f32)
                                : made[out.size()].dtype();
        out.emplace_back(m.name, dtype == u8 ? eight_bit_moment(p.shape(), p.device())
                                             : full(m.one ? Shape() : p.shape(), m.initial,
                                                    {.dtype = dtype, .device = p.device()}));
    }
    // The first step takes the parameter over into it, as it differs from zeros.
    if (master) out.emplace_back("master_param", zeros(p.shape(), {.device = p.device()}));
    return out;
}

void Optimizer::make_moments(const Group& g, std::size_t index)
{
    if (!moments_[index].empty()) return;
    const outside_recording here;
    for (const auto& [name, value] : initial_state(g, index)) moments_[index].emplace_back(value, false);
}

// ---- a step ----

// Collects the new values of all groups, then assigns them.
class Optimizer::Step {
public:
    Step(Optimizer& o, Tensor skip)
        : o_(o), skip_(std::move(skip)), recording_(is_recording()),
          call_(std::make_shared<Call>(o.steps_, o.rule_))
    {}

    void add(std::size_t group)
    {
        Group& g = o_.groups_[group];
        std::vector<std::size_t> with_gradient;
        for (std::size_t i = g.first; i < g.first + g.count; ++i)
            if (o_.parameters_[i].grad().defined()) with_gradient.push_back(i);
        if (with_gradient.empty()) return;
        for (const std::size_t i : with_gradient) o_.make_moments(g, i);
        if (g.made.defined()) add_counted_on_device(group, with_gradient);
        else add_counted_on_host(group, with_gradient);
    }

    // Assigns the new values, and evaluates them unless a program is recorded.
    void finish()
    {
        on_each_call([call = call_] { call->begin(); }, [call = call_] { call->undo(); });
        for (const auto& [variable, value] : assignments_) Variable(variable).assign(value);
        if (recording_) return;
        std::vector<Tensor> all; // evaluated together: forward, backward and update
        for (const auto& assignment : assignments_) all.push_back(assignment.second);
        try {
            eval(all);
        } catch (const Error& error) {
            // The step has been made, and its values stay pending: reading them throws this error again.
            if (error.kind() == ErrorKind::device_lost) throw;
        }
    }

private:
    StepOf step_of(const Group& g, std::size_t i) const
    {
        const Tensor p = o_.value(i), gradient = o_.parameters_[i].grad();
        std::vector<Tensor> moments(o_.moments_[i].begin(), o_.moments_[i].end());
        if (!o_.has_master(g, i)) return {p, gradient, std::move(moments)};
        const Tensor master = moments.back();
        moments.pop_back();
        return {master, gradient, std::move(moments), p};
    }

    // Updates parameters by the same numbers: those with a master copy, and the others.
    void update(std::size_t group, const std::vector<std::size_t>& indices,
                const std::vector<Tensor>& numbers)
    {
        const Group& g = o_.groups_[group];
        for (const bool master : {false, true}) {
            std::vector<StepOf> of;
            std::vector<std::size_t> chosen;
            for (const std::size_t i : indices) {
                if (o_.has_master(g, i) != master) continue;
                chosen.push_back(i);
                of.push_back(step_of(g, i));
            }
            if (of.empty()) continue;
            const std::vector<std::vector<Tensor>> values =
                o_.updated({group, of, numbers, skip_, g.precision.stochastic_rounding});
            for (std::size_t k = 0; k < chosen.size(); ++k) assign(chosen[k], master, values[k]);
        }
    }

    // Assigns the results of a step, whose last one is the parameter where it has a master copy.
    void assign(std::size_t index, bool master, std::vector<Tensor> values)
    {
        std::vector<Variable> variables{o_.parameters_[index]};
        variables.insert(variables.end(), o_.moments_[index].begin(), o_.moments_[index].end());
        if (master) std::swap(values.front(), values.back());
        const bool select = skip_.defined() && !o_.rule_.skips;
        for (std::size_t m = 0; m < variables.size(); ++m) {
            if (select) {
                const Tensor before = m == 0 ? o_.value(index) : variables[m];
                values[m] = where(skip_ != 0, before.detach(), values[m]);
            }
            assignments_.emplace_back(variables[m], values[m]);
        }
    }

    // A number that does not depend on the step: the host knows it, so that it needs no memory and no launch.
    Tensor number_of_options(const Group& g, std::size_t n, const Device& device) const
    {
        if (!recording_)
            return full({}, o_.rule_.number(n, HostStep(g.values->data(), 0)), {.device = device});
        return host_scalar(
            [f = o_.rule_.number, values = g.values, n] { return f(n, HostStep(values->data(), 0)); });
    }

    bool by_step(std::size_t n) const { return (o_.rule_.by_step >> n & 1u) != 0; }

    void add_counted_on_host(std::size_t group, const std::vector<std::size_t>& with_gradient)
    {
        const Group& g = o_.groups_[group];
        const std::size_t group_in_call = call_->add_group(group, g.values, o_.rule_.numbers);
        std::optional<Device> before;
        std::int64_t step_before = 0;
        std::vector<Tensor> numbers(o_.rule_.numbers);
        std::vector<std::size_t> indices; // of the parameters that use these numbers
        for (const std::size_t i : with_gradient) {
            const Device device = o_.parameters_[i].device();
            const std::int64_t step = o_.made(i) + 1;
            const std::size_t p = call_->add_parameter(i, step);
            const bool own_step = recording_ || step != step_before;
            if (before != device || (own_step && o_.rule_.by_step != 0)) {
                update(group, indices, numbers);
                indices.clear();
            }
            for (std::size_t n = 0; n < o_.rule_.numbers; ++n) {
                if (before == device && !(own_step && by_step(n)))
                    continue; // shared with the previous parameter
                numbers[n] = by_step(n) ? number_of_step(group_in_call, g, n, p, step, device)
                                        : number_of_options(g, n, device);
            }
            before = device;
            step_before = step;
            indices.push_back(i);
        }
        update(group, indices, numbers);
    }

    Tensor number_of_step(std::size_t group_in_call, const Group& g, std::size_t n, std::size_t parameter,
                          std::int64_t step, const Device& device) const
    {
        if (!recording_)
            return full({}, o_.rule_.number(n, HostStep(g.values->data(), step)), {.device = device});
        return host_scalar(
            [call = call_, group_in_call, n, parameter] { return call->at(group_in_call, n, parameter); });
    }

    // Each parameter takes its element of numbers that are computed for all of them together.
    void add_counted_on_device(std::size_t group, const std::vector<std::size_t>& with_gradient)
    {
        Group& g = o_.groups_[group];
        const Device device = g.made.device();
        const DeviceStep step(g.values, cast(g.made.detach() + 1, f32));
        std::vector<Tensor> numbers;
        for (std::size_t n = 0; n < o_.rule_.numbers; ++n)
            numbers.push_back(by_step(n) ? o_.rule_.number_on_device(n, step)
                                         : number_of_options(g, n, device));
        std::vector<std::int32_t> updated(g.count, 0); // 1 for parameters that have a gradient
        for (const std::size_t i : with_gradient) updated[i - g.first] = 1;
        if (o_.rule_.by_step == 0) update(group, with_gradient, numbers);
        else
            for (const std::size_t i : with_gradient) {
                std::vector<Tensor> own = numbers;
                for (std::size_t n = 0; n < own.size(); ++n)
                    if (by_step(n)) own[n] = own[n].select(0, static_cast<std::int64_t>(i - g.first));
                update(group, {i}, own);
            }
        // Of the shape of the counts, as a plan computes their sum in the state's memory.
        const bool all = with_gradient.size() == g.count;
        Tensor more =
            all ? ones_like(g.made.detach()) : from_vector(updated, g.made.shape(), {.device = device});
        if (skip_.defined()) {
            const Tensor made = cast(skip_.expand(g.made.shape()) == 0, i32);
            more = all ? made : made * more;
        }
        assignments_.emplace_back(g.made, g.made.detach() + more);
    }

    Optimizer& o_;
    Tensor skip_;
    bool recording_;
    std::shared_ptr<Call> call_;
    std::vector<std::pair<Variable, Tensor>> assignments_;
};

void Optimizer::step()
{
    begin_step();
    make_step({});
}

void Optimizer::step_unless(const Tensor& skip)
{
    if (!skip.defined() || !same(skip.numel(), 1))
        fail(ErrorKind::shape, rule_.op, "The skip of step_unless() is ",
             skip.defined() ? to_string(skip.shape()) : "undefined", ": give one number.");
    begin_step(); // before ranks exchange anything
    const Tensor number = skip.detach().reshape({});
    // An f32 needs no launch.
    step_unless_any(any_rank(number.dtype() == f32 ? number : cast(number != 0, f32)));
}

// The skip, f32 of one element, is the same on all ranks.
void Optimizer::step_unless_any(const Tensor& skip)
{
    begin_step();
    const Tensor number = skip.reshape({});
    check_device(number.device()); // of all groups before the first changes
    for (std::size_t g = 0; g < groups_.size(); ++g) count_on_device(g, number.device());
    make_step(number);
}

void Optimizer::make_step(const Tensor& skip)
{
    const no_grad guard;
    Step step(*this, skip);
    for (std::size_t g = 0; g < groups_.size(); ++g) step.add(g);
    step.finish();
    end_step();
}

} // namespace reprise::optim
