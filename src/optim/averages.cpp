#include <reprise/optim/averages.hpp>

#include <string>
#include <utility>

#include <reprise/autograd.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/program.hpp>

namespace reprise::optim {

using detail::fail;

namespace {

constexpr const char* op = "ExponentialMovingAverage";

void check(double decay)
{
    if (!(decay >= 0 && decay <= 1))
        fail(ErrorKind::argument, op, "The decay (", decay, ") must be from 0 to 1.");
}

void check_not_recording(const char* what)
{
    if (is_recording()) fail(ErrorKind::state, op, what, " while a program is recorded.");
}

DType dtype_of_average(DType dtype) { return dtype == f64 ? f64 : f32; }

std::string name_of_average(std::size_t i) { return "average." + std::to_string(i); }

const Tensor& entry(const StateDict& state, const std::string& name, const Variable& own)
{
    const auto found = state.find(name);
    if (found == state.end() || !found->second.defined())
        fail(ErrorKind::argument, op, "The entry (", name, ") is missing from the state.");
    const Tensor& value = found->second;
    if (to_string(value.shape()) != to_string(own.shape()))
        fail(ErrorKind::shape, op, "The entry (", name, ") has the shape ", to_string(value.shape()),
             " where ", to_string(own.shape()), " is needed.");
    if (value.dtype() != own.dtype())
        fail(ErrorKind::dtype, op, "The entry (", name, ") has the dtype ", name_of(value.dtype()), " where ",
             name_of(own.dtype()), " is needed.");
    return value;
}

} // namespace

ExponentialMovingAverage::ExponentialMovingAverage(std::vector<Variable> parameters, const Options& options)
    : parameters_(std::move(parameters)), decay_(std::make_shared<double>(options.decay)),
      use_num_updates_(options.use_num_updates)
{
    check(options.decay);
    check_not_recording("Averages can't be created");
    if (parameters_.empty()) fail(ErrorKind::argument, op, "There are no parameters: give at least one.");
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const Variable& p = parameters_[i];
        if (!p.defined()) fail(ErrorKind::argument, op, "The parameter with index (", i, ") is undefined.");
        if (!is_floating(p.dtype()))
            fail(ErrorKind::dtype, op, "The parameter with index (", i, ") is ", name_of(p.dtype()),
                 ": give floating ones.");
    }
    for (const Variable& p : parameters_)
        averages_.emplace_back(p.detach().to(dtype_of_average(p.dtype())).clone(), false);
    updates_ = Variable(zeros({}, {.dtype = i32, .device = parameters_[0].device()}), false);
}

void ExponentialMovingAverage::set_decay(double decay)
{
    check(decay);
    *decay_ = decay;
}

// Returns the share of the parameter in the new average, f32 {}.
Tensor ExponentialMovingAverage::weight() const
{
    const auto share = [decay = decay_] { return 1 - *decay; };
    const Tensor fixed =
        is_recording() ? host_scalar(share) : full({}, share(), {.device = updates_.device()});
    if (!use_num_updates_) return fixed;
    const Tensor n = cast(updates_.detach() + 1, f32);
    return maximum(fixed, 9 / (n + 10)); // 1 - (1 + n) / (10 + n)
}

void ExponentialMovingAverage::update()
{
    const no_grad guard;
    const Tensor share = weight();
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const Tensor average = averages_[i].detach();
        const Tensor value = parameters_[i].detach().to(average.dtype());
        averages_[i].assign(average + cast(share.to(average.device()), average.dtype()) * (value - average));
    }
    updates_.assign(updates_.detach() + 1);
}

ExponentialMovingAverage::Averaged::Averaged(const ExponentialMovingAverage& ema)
    : parameters_(ema.parameters())
{
    check_not_recording("Parameters can't be averaged");
    for (const Variable& p : parameters_) before_.push_back(p.detach().snapshot());
    ema.copy_to();
}

ExponentialMovingAverage::Averaged::~Averaged()
{
    try {
        restore();
    } catch (const Error&) { // such as a device that is lost: reading the parameters throws then, too
    }
}

void ExponentialMovingAverage::Averaged::restore()
{
    const outside_recording here;
    const no_grad guard;
    std::vector<Tensor> values; // all are made before the first change, as that may fail
    for (std::size_t i = 0; i < before_.size(); ++i)
        values.push_back(before_[i].to(parameters_[i].device(), parameters_[i].dtype()));
    before_.clear();
    for (std::size_t i = 0; i < values.size(); ++i) parameters_[i].assign(values[i]);
}

void ExponentialMovingAverage::copy_to() const
{
    check_not_recording("Averages can't be copied");
    const no_grad guard;
    std::vector<Tensor> values; // all are made before the first change, as that may fail
    for (std::size_t i = 0; i < parameters_.size(); ++i)
        values.push_back(averages_[i].detach().to(parameters_[i].device(), parameters_[i].dtype()));
    for (std::size_t i = 0; i < values.size(); ++i) Variable(parameters_[i]).assign(values[i]);
}

StateDict ExponentialMovingAverage::state_dict() const
{
    StateDict out{{"updates", updates_.detach()}};
    for (std::size_t i = 0; i < averages_.size(); ++i) out.emplace(name_of_average(i), averages_[i].detach());
    return out;
}

void ExponentialMovingAverage::load_state_dict(const StateDict& state)
{
    check_not_recording("State can't be loaded");
    if (state.size() != averages_.size() + 1)
        fail(ErrorKind::argument, op, "The state has (", state.size(), ") entries where (",
             averages_.size() + 1, ") are needed.");
    const Tensor updates = entry(state, "updates", updates_).to(updates_.device());
    std::vector<Tensor> values;
    for (std::size_t i = 0; i < averages_.size(); ++i)
        values.push_back(entry(state, name_of_average(i), averages_[i]).detach().to(averages_[i].device()));
    const no_grad guard;
    for (std::size_t i = 0; i < averages_.size(); ++i) averages_[i].assign(values[i]);
    updates_.assign(updates);
}

} // namespace reprise::optim
