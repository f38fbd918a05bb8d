#include <reprise/optim.hpp>

#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_set>

#include <reprise/autograd.hpp>
#include <reprise/io.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/program.hpp>

namespace reprise::optim {

using detail::fail;

namespace {

Tensor zeros_for(const Variable& parameter)
{
    return zeros(parameter.shape(), {.dtype = parameter.dtype(), .device = parameter.device()});
}

// One element that the host knows: no memory, no launch.
Tensor number(std::function<double()> value, const Device& device)
{
    return is_recording() ? host_scalar(std::move(value)) : full({}, value(), {.device = device});
}

// Of one call of Optimizer::step(), for the n-th parameter that has a gradient: the step's number, and what follows
// from it.  Most parameters have made equally many steps, so the last numbers are kept.
class NumbersOfSteps {
public:
    NumbersOfSteps(std::function<double(std::size_t, std::int64_t)> f, std::size_t count)
        : f_(std::move(f)), last_(count)
    {}
    double at(std::size_t number, std::size_t parameter)
    {
        Last& last = last_[number];
        const std::int64_t step = steps[parameter];
        if (last.step != step) last = {step, f_(number, step)};
        return last.value;
    }

    std::vector<std::int64_t> steps;

private:
    struct Last {
        std::int64_t step = -1;
        double value = 0;
    };
    std::function<double(std::size_t, std::int64_t)> f_;
    std::vector<Last> last_;
};

} // namespace

Optimizer::Optimizer(std::vector<Variable> parameters, double learning_rate, Rule rule)
    : parameters_(std::move(parameters)), moments_(parameters_.size()), steps_(std::make_shared<Steps>()),
      learning_rate_(std::make_shared<double>(learning_rate)), rule_(std::move(rule))
{
    steps_->made.resize(parameters_.size());
    if (parameters_.empty())
        fail(ErrorKind::argument, rule_.op,
             "There are no parameters: give those of a module, net.parameters().");
    std::unordered_set<const void*> seen;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const Variable& parameter = parameters_[i];
        if (!parameter.defined())
            fail(ErrorKind::argument, rule_.op, "The parameter with index (", i, ") is undefined.");
        if (!parameter.requires_grad() || !parameter.is_leaf())
            fail(ErrorKind::argument, rule_.op, "The parameter with index (", i,
                 ") is no leaf that requires a gradient: it can't be trained.");
        if (!seen.insert(parameter.cell().get()).second)
            fail(ErrorKind::argument, rule_.op, "The parameter with index (", i,
                 ") comes twice: give each once.");
    }
    check_not_negative("learning rate", learning_rate);
}

void Optimizer::check_not_negative(const char* what, double value) const
{
    if (!(value >= 0) || std::isinf(value))
        fail(ErrorKind::argument, rule_.op, "The ", what, " (", value, ") must be a number of at least 0.");
}

void Optimizer::set_learning_rate(double value)
{
    check_not_negative("learning rate", value);
    *learning_rate_ = value;
}

void Optimizer::zero_grad()
{
    for (Variable& parameter : parameters_) parameter.zero_grad();
}

std::int64_t Optimizer::made(std::size_t index) const
{
    const std::lock_guard lock(steps_->mutex);
    return steps_->made[index];
}

void Optimizer::make_moments(std::size_t index)
{
    std::vector<Variable>& moments = moments_[index];
    if (moments.size() == rule_.moments.size()) return;
    const outside_recording here;
    std::vector<Variable> made;
    for (std::size_t i = 0; i < rule_.moments.size(); ++i)
        made.emplace_back(zeros_for(parameters_[index]), false);
    moments = std::move(made);
}

void Optimizer::step()
{
    const no_grad guard;
    struct Pending {
        std::size_t index;
        std::vector<Tensor> values;
    };
    std::vector<Pending> pending;
    std::optional<Device> before;
    Tensor rate;
    // A program may hold several calls of step(): each has the numbers that the hook below gives it.
    const auto now = std::make_shared<NumbersOfSteps>(rule_.step_number, rule_.step_numbers);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const Tensor gradient = parameters_[i].grad();
        if (!gradient.defined()) continue;
        make_moments(i);
        const Device device = parameters_[i].device();
        if (before != device) rate = number([r = learning_rate_] { return *r; }, device);
        before = device;
        now->steps.push_back(made(i) + 1);
        std::vector<Tensor> numbers;
        for (std::size_t n = 0; n < rule_.step_numbers; ++n)
            numbers.push_back(number([now, n, p = pending.size()] { return now->at(n, p); }, device));
        const Update update{parameters_[i], gradient, moments_[i], rate, numbers};
        pending.push_back({i, updated(update)});
    }
    std::vector<std::size_t> indices;
    for (const Pending& p : pending) indices.push_back(p.index);
    const auto shared = std::make_shared<const std::vector<std::size_t>>(std::move(indices));
    on_each_call(
        [steps = steps_, shared, now] {
            const std::lock_guard lock(steps->mutex);
            for (std::size_t p = 0; p < shared->size(); ++p) now->steps[p] = ++steps->made[(*shared)[p]];
        },
        [steps = steps_, shared] {
            const std::lock_guard lock(steps->mutex);
            for (const std::size_t i : *shared) --steps->made[i];
        });
    for (const Pending& p : pending) {
        parameters_[p.index].assign(p.values[0]);
        for (std::size_t m = 0; m < moments_[p.index].size(); ++m)
            moments_[p.index][m].assign(p.values[m + 1]);
    }
}

// ---- checkpoints ----

namespace {

// Three f32 hold the 53 bits of a double: their sum is v, and a program that goes on computes the same bits.
std::vector<float> parts_of(double v)
{
    std::vector<float> parts;
    for (int i = 0; i < 3; ++i) {
        parts.push_back(static_cast<float>(v));
        v -= parts.back();
    }
    return parts;
}

double sum_of(const Tensor& parts)
{
    double v = 0; // exact from the least one on
    const std::vector<float> p = parts.to_vector<float>();
    for (auto i = p.rbegin(); i != p.rend(); ++i) v += *i;
    return v;
}

} // namespace

StateDict Optimizer::state_dict() const
{
    StateDict out;
    out.emplace("lr", from_vector(parts_of(learning_rate())));
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const std::int64_t step = made(i);
        if (step == 0) continue;
        const std::string prefix = std::to_string(i) + ".";
        out.emplace(prefix + "step",
                    from_vector(std::vector<std::int32_t>{static_cast<std::int32_t>(step)}, {1}));
        for (std::size_t m = 0; m < moments_[i].size(); ++m)
            out.emplace(prefix + rule_.moments[m], moments_[i][m].detach());
    }
    return out;
}

namespace {

// "12.exp_avg" -> 12 and "exp_avg"; false where it is not of this form.
bool split_name(const std::string& name, std::size_t& index, std::string& field)
{
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
    if (error != std::errc() || end == name.data() + name.size() || *end != '.') return false;
    field.assign(end + 1, name.data() + name.size());
    return true;
}

bool has_one(const Tensor& value, DType dtype)
{
    return value.defined() && value.dtype() == dtype && value.numel().value() == 1;
}

} // namespace

void Optimizer::check_entry(const std::string& name, const Tensor& value) const
{
    constexpr const char* op = "load_state_dict";
    if (name == "lr") {
        const bool fits = value.defined() && value.dtype() == f32 && value.dim() == 1 &&
                          (value.numel().value() == 1 || value.numel().value() == 3);
        if (!fits || !(sum_of(value) >= 0))
            fail(ErrorKind::argument, op,
                 "The entry (lr) must be one number, or three with it as their sum, of dtype f32, at least "
                 "0.");
        return;
    }
    std::size_t index = 0;
    std::string field;
    if (!split_name(name, index, field) || index >= parameters_.size())
        fail(ErrorKind::argument, op, "The entry (", name, ") belongs to none of the ", parameters_.size(),
             " parameters: the state is of another optimizer.");
    if (field == "step") {
        if (!has_one(value, i32) || value.item<std::int32_t>() < 1)
            fail(ErrorKind::argument, op, "The entry (", name,
                 ") must be one number of dtype i32, at least 1.");
        return;
    }
    bool known = false;
    for (const std::string& moment : rule_.moments) known = known || field == moment;
    if (!known)
        fail(ErrorKind::argument, op, "The entry (", name,
             ") is not known to this optimizer: the state is of another kind.");
    const Variable& parameter = parameters_[index];
    if (!value.defined() || to_string(value.shape()) != to_string(parameter.shape()))
        fail(ErrorKind::shape, op, "The entry (", name, ") has the shape ",
             value.defined() ? to_string(value.shape()) : "of an undefined tensor", " but its parameter has ",
             to_string(parameter.shape()), ".");
    if (value.dtype() != parameter.dtype())
        fail(ErrorKind::dtype, op, "The entry (", name, ") has the dtype ", name_of(value.dtype()),
             " but its parameter has ", name_of(parameter.dtype()), ".");
}

void Optimizer::load_state_dict(const StateDict& values)
{
    constexpr const char* op = "load_state_dict";
    if (is_recording())
        fail(ErrorKind::state, op, "State can't be loaded while a program is recorded: load it before.");
    for (const auto& [name, value] : values) check_entry(name, value);
    if (!values.contains("lr"))
        fail(ErrorKind::argument, op, "The entry (lr) is missing: this is no optimizer's state.");

    struct Ready {
        std::int64_t step = 0;
        std::vector<Tensor> moments;
    };
    std::vector<Ready> ready(parameters_.size());
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const std::string prefix = std::to_string(i) + ".";
        const bool stepped = values.contains(prefix + "step");
        if (stepped) ready[i].step = values.at(prefix + "step").item<std::int32_t>();
        for (const std::string& moment : rule_.moments) {
            const auto found = values.find(prefix + moment);
            if ((found != values.end()) != stepped)
                fail(ErrorKind::argument, op, "The entries (", prefix, "step) and (", prefix, moment,
                     ") belong together, but one is missing.");
            const Device device = parameters_[i].device();
            ready[i].moments.push_back(!stepped ? zeros_for(parameters_[i])
                                       : found->second.device() == device
                                           ? found->second.detach()
                                           : from_bytes(to_bytes(found->second), found->second.shape(),
                                                        {.dtype = found->second.dtype(), .device = device}));
        }
    }
    *learning_rate_ = sum_of(values.at("lr"));
    for (std::size_t i = 0; i < parameters_.size(); ++i) { // programs hold these very cells and counts
        if (ready[i].step > 0) make_moments(i);
        {
            const std::lock_guard lock(steps_->mutex);
            steps_->made[i] = ready[i].step;
        }
        for (std::size_t m = 0; m < moments_[i].size(); ++m) moments_[i][m].assign(ready[i].moments[m]);
    }
}

} // namespace reprise::optim
