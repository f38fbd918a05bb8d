#include <reprise/optim/grad_scaler.hpp>

#include <cmath>
#include <limits>

#include <reprise/autograd.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/updates.hpp>
#include <reprise/program.hpp>

#include "optim/numbers.hpp"

namespace reprise {

using detail::fail;

namespace {

constexpr const char* op = "GradScaler";
constexpr double smallest_scale = std::numeric_limits<float>::min(); // its reciprocal is finite
constexpr std::int64_t largest_interval = std::int64_t{1} << 24;     // f32 counts up to it without gaps

void check_scale(double scale)
{
    if (!(scale >= smallest_scale) || scale > std::numeric_limits<float>::max())
        fail(ErrorKind::argument, op, "The scale (", scale,
             ") must be a number from 2^-126 to the largest f32.");
}

// A number of the host, which a program reads at each call.
template <class F> Tensor number(const F& f, const Device& device)
{
    return is_recording() ? host_scalar(f) : full({}, f(), {.device = device});
}

const Tensor& entry(const optim::StateDict& state, const char* name)
{
    const auto found = state.find(name);
    if (found == state.end())
        fail(ErrorKind::argument, op, "The entry (", name, ") is missing from the state",
             state.empty() ? ", which is empty: it may be of a scaler that was not enabled." : ".");
    return found->second;
}

double number_of_halves(const optim::StateDict& state, const char* name)
{
    const auto numbers = optim::numbers_of(entry(state, name));
    if (!numbers || numbers->size() != 1)
        fail(ErrorKind::argument, op, "The entry (", name,
             ") must be one number: the halves of its bits of dtype i32, or one f32.");
    return numbers->front();
}

template <class T> T element(const optim::StateDict& state, const char* name, DType dtype)
{
    const Tensor& t = entry(state, name);
    if (!t.defined() || t.dtype() != dtype || !same(t.numel(), 1))
        fail(ErrorKind::argument, op, "The entry (", name, ") must be one number of dtype ", name_of(dtype),
             ".");
    return t.item<T>();
}

} // namespace

GradScaler::GradScaler(const Options& o)
    : enabled_(o.enabled),
      numbers_(std::make_shared<Numbers>(Numbers{o.growth_factor, o.backoff_factor, o.growth_interval})),
      init_scale_(o.init_scale)
{
    check_scale(o.init_scale);
    check(*numbers_);
}

void GradScaler::check(const Numbers& n) const
{
    // The device computes in f32.
    if (!(static_cast<float>(n.growth) > 1) || std::isinf(static_cast<float>(n.growth)))
        fail(ErrorKind::argument, op, "The growth_factor (", n.growth, ") must be a number above 1.");
    if (!(static_cast<float>(n.backoff) > 0 && static_cast<float>(n.backoff) < 1))
        fail(ErrorKind::argument, op, "The backoff_factor (", n.backoff, ") must be above 0 and below 1.");
    if (n.interval < 1 || n.interval > largest_interval)
        fail(ErrorKind::argument, op, "The growth_interval (", n.interval, ") must be from 1 to ",
             largest_interval, ".");
}

void GradScaler::set_growth_factor(double value)
{
    check({value, numbers_->backoff, numbers_->interval});
    numbers_->growth = value;
}
void GradScaler::set_backoff_factor(double value)
{
    check({numbers_->growth, value, numbers_->interval});
    numbers_->backoff = value;
}
void GradScaler::set_growth_interval(std::int64_t value)
{
    check({numbers_->growth, numbers_->backoff, value});
    numbers_->interval = value;
}

void GradScaler::make_state(const Device& device)
{
    if (scale_.defined()) return;
    const outside_recording here;
    scale_ = Variable(full({}, init_scale_, {.device = device}), false);
    tracker_ = Variable(full({}, init_tracker_, {.dtype = i32, .device = device}), false);
}

void GradScaler::require_scale(const char* what) const
{
    if (!scale_.defined())
        fail(ErrorKind::state, op, "There is no scale yet: call scale() and backward() before ", what, "().");
}

// Forgets calls in a recording that has ended or failed: their tensors can't be used any more.
void GradScaler::drop_other_recordings()
{
    std::erase_if(optimizers_, [now = recording_id()](const auto& o) { return o.second.recording != now; });
}

Tensor GradScaler::scale(const Tensor& loss)
{
    if (!enabled_) return loss;
    if (!loss.defined() || !is_floating(loss.dtype()))
        fail(ErrorKind::dtype, op, "The loss is ", loss.defined() ? name_of(loss.dtype()) : "undefined",
             ": give a floating tensor.");
    make_state(loss.device());
    const Tensor wide = loss.dtype() == f64 ? loss : cast(loss, f32);
    return wide * cast(scale_.detach().to(loss.device()), wide.dtype());
}

std::vector<Tensor> GradScaler::scale(const std::vector<Tensor>& losses)
{
    std::vector<Tensor> out;
    for (const Tensor& loss : losses) out.push_back(scale(loss));
    return out;
}

void GradScaler::unscale_(optim::Optimizer& optimizer)
{
    if (!enabled_) return;
    require_scale("unscale_");
    drop_other_recordings();
    if (const auto found = optimizers_.find(&optimizer); found != optimizers_.end())
        fail(ErrorKind::state, op, "unscale_() follows ",
             found->second.stage == Stage::stepped ? "step()" : "another unscale_()",
             " of the same optimizer: call update() between them.");
    const no_grad guard;
    std::vector<Variable> parameters;
    std::vector<Tensor> gradients;
    for (std::size_t i = 0; i < optimizer.parameters().size(); ++i) {
        const Variable& p = optimizer.parameters()[i];
        const Tensor g = p.grad();
        if (!g.defined()) continue;
        if (g.dtype() == f16)
            fail(ErrorKind::dtype, op, "The gradient of the parameter with index (", i,
                 ") is f16, in which unscaled gradients become 0: keep the parameter in f32 or bf16.");
        if (!gradients.empty() && g.device() != gradients[0].device())
            fail(ErrorKind::argument, op, "The gradient of the parameter with index (", i, ") is on ",
                 g.device(), " but others are on ", gradients[0].device(),
                 ": give the parameters of each device an optimizer.");
        parameters.push_back(p);
        gradients.push_back(g);
    }
    if (gradients.empty()) return;
    const Unscaled unscaled = unscale(gradients, (1 / scale_.detach()).to(gradients[0].device()));
    for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].set_grad(unscaled.gradients[i]);
    optimizers_[&optimizer] = {Stage::unscaled, optimizer.any_rank(unscaled.nonfinite), recording_id()};
}

void GradScaler::step(optim::Optimizer& optimizer)
{
    if (!enabled_) return optimizer.step();
    drop_other_recordings();
    auto found = optimizers_.find(&optimizer);
    if (found != optimizers_.end() && found->second.stage == Stage::stepped)
        fail(ErrorKind::state, op,
             "step() follows another step() of the same optimizer: call update() between them.");
    if (found == optimizers_.end()) {
        unscale_(optimizer);
        found = optimizers_.find(&optimizer);
    }
    if (found == optimizers_.end())
        fail(ErrorKind::state, op,
             "No parameter of the optimizer has a gradient: call backward() before step().");
    OfOptimizer& state = found->second;
    optimizer.step_unless_any(state.nonfinite);
    state.stage = Stage::stepped;
}

Tensor GradScaler::nonfinite_of_all() const
{
    Tensor any;
    for (const auto& [optimizer, state] : optimizers_) {
        const Tensor one = state.nonfinite.to(scale_.device());
        any = any.defined() ? maximum(any, one) : one;
    }
    return any;
}

void GradScaler::update()
{
    if (!enabled_) return;
    require_scale("update");
    drop_other_recordings();
    const Tensor nonfinite = nonfinite_of_all();
    if (!nonfinite.defined())
        fail(ErrorKind::state, op,
             "No step was made since the last update(): call step() before, in the same program.");
    const no_grad guard;
    const Device device = scale_.device();
    const auto of = [&](double (*f)(const Numbers&)) {
        return number([numbers = numbers_, f] { return f(*numbers); }, device);
    };
    // The new values are products, which a plan computes in the state's memory: where() takes a bool beside them.
    const Tensor scale = scale_.detach(), skipped = nonfinite != 0, steps = tracker_.detach() + 1;
    const Tensor row_is_full =
        cast(steps, f32) == of([](const Numbers& n) { return static_cast<double>(n.interval); });
    const Tensor growth = of([](const Numbers& n) { return n.growth; });
    const Tensor backoff = of([](const Numbers& n) { return n.backoff; });
    const Tensor grows = logical_and(row_is_full, isfinite(scale * growth));
    const Tensor falls = where(scale * backoff >= smallest_scale, backoff, 1);
    scale_.assign(scale * where(skipped, falls, where(grows, growth, 1)));
    tracker_.assign(steps * cast(logical_not(logical_or(skipped, row_is_full)), i32));
    optimizers_.clear();
}

void GradScaler::update(double new_scale)
{
    check_scale(new_scale);
    if (!enabled_) return;
    require_scale("update");
    scale_.assign(full({}, new_scale, {.device = scale_.device()}));
    optimizers_.clear();
}

double GradScaler::get_scale() const
{
    if (!enabled_) return 1;
    return scale_.defined() ? scale_.item<float>() : init_scale_;
}

optim::StateDict GradScaler::state_dict() const
{
    if (!enabled_) return {};
    const auto one = [](auto value) { return from_vector(std::vector{value}, {1}); };
    return {{"scale", scale_.defined() ? scale_.detach() : one(static_cast<float>(init_scale_))},
            {"growth_factor", optim::halves_of({numbers_->growth})},
            {"backoff_factor", optim::halves_of({numbers_->backoff})},
            {"growth_interval", one(static_cast<std::int32_t>(numbers_->interval))},
            {"_growth_tracker", tracker_.defined() ? tracker_.detach() : one(init_tracker_)}};
}

void GradScaler::load_state_dict(const optim::StateDict& state)
{
    if (!enabled_) return;
    if (is_recording())
        fail(ErrorKind::state, op, "State can't be loaded while a program is recorded: load it before.");
    const Numbers numbers{number_of_halves(state, "growth_factor"), number_of_halves(state, "backoff_factor"),
                          element<std::int32_t>(state, "growth_interval", i32)};
    check(numbers);
    const float scale = element<float>(state, "scale", f32);
    check_scale(scale);
    const auto tracker = element<std::int32_t>(state, "_growth_tracker", i32);
    if (tracker < 0)
        fail(ErrorKind::argument, op, "The entry (_growth_tracker) is (", tracker, "), below 0.");
    *numbers_ = numbers;
    init_scale_ = scale;
    init_tracker_ = tracker;
    if (scale_.defined()) {
        scale_.assign(full({}, scale, {.device = scale_.device()}));
        tracker_.assign(full({}, tracker, {.dtype = i32, .device = tracker_.device()}));
    }
    optimizers_.clear();
}

} // namespace reprise
