#include <reprise/checkpointing/accumulator.hpp>

#include <memory>
#include <utility>
#include <vector>

#include <reprise/autograd/grad.hpp>
#include <reprise/error.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/program.hpp>

namespace reprise {

namespace {
constexpr const char* op = "CheckpointedGradientAccumulator";
}

struct CheckpointedGradientAccumulator::Sum {
    explicit Sum(const Tensor& like) : value(zeros_on(like)) {}

    // State that programs may have, so it is made outside of them.
    static Variable zeros_on(const Tensor& like)
    {
        const TensorOptions type{.dtype = like.dtype(), .device = like.device()};
        const Shape shape = like.shape();
        const outside_recording eager;
        return Variable(zeros(shape, type), false);
    }

    Variable value; // what it holds counts where `count` is not 0
    std::int64_t count = 0;
    std::uint64_t changes = 0;
};

// Programs have it, too: they count.
struct CheckpointedGradientAccumulator::State {
    using Counts = std::map<std::string, std::int64_t>; // names that are not in it: 0

    // Under the mutex.
    Counts replace_counts(const Counts& by)
    {
        Counts before;
        for (auto& [name, sum] : sums) {
            const auto found = by.find(name);
            before[name] = std::exchange(sum->count, found == by.end() ? 0 : found->second);
            ++sum->changes;
        }
        return before;
    }
    Gradients values() const
    {
        Gradients out;
        for (const auto& [name, sum] : sums)
            if (sum->count > 0) out[name] = sum->value.detach();
        return out;
    }

    std::mutex mutex; // never held while anything is computed
    Sums sums;
};

namespace {

std::string describe(const Tensor& t)
{
    return std::string(name_of(t.dtype())) + to_string(t.shape()) + " on " + t.device().name();
}

void check_gradient(const std::string& name, const Tensor& gradient)
{
    if (name.empty()) detail::fail(ErrorKind::argument, op, "A gradient's name is empty: give it one.");
    if (!gradient.defined())
        detail::fail(ErrorKind::argument, op, "The gradient of (", name,
                     ") is undefined: leave out what has none.");
    for (const Dim& d : gradient.shape())
        if (!d.is_constant())
            detail::fail(ErrorKind::shape, op, "The gradient of (", name, ") has the shape (",
                         to_string(gradient.shape()),
                         "), but its sum is state of fixed size: give sizes that are numbers.");
}

void check_same(const std::string& name, const Tensor& sum, const Tensor& gradient)
{
    ErrorKind kind = ErrorKind::shape;
    if (sum.dtype() != gradient.dtype()) kind = ErrorKind::dtype;
    else if (!(sum.device() == gradient.device())) kind = ErrorKind::device;
    else if (sum.shape() == gradient.shape()) return;
    detail::fail(kind, op, "The gradient of (", name, ") is ", describe(gradient), ", but its sum is ",
                 describe(sum), ": give each tensor's gradients a name of their own.");
}

} // namespace

CheckpointedGradientAccumulator::CheckpointedGradientAccumulator(std::int64_t steps)
    : steps_(steps), state_(std::make_shared<State>())
{
    if (steps < 1)
        detail::fail(ErrorKind::argument, op, "The number of steps (", steps, ") must be at least 1.");
}
CheckpointedGradientAccumulator::~CheckpointedGradientAccumulator() = default;

void CheckpointedGradientAccumulator::accumulate(const std::string& name, const Tensor& gradient)
{
    add_all({{name, gradient}});
}

void CheckpointedGradientAccumulator::accumulate(const Gradients& gradients)
{
    const std::vector<Tensor> sums = add_all(gradients);
    if (!is_recording()) eval(sums);
}

CheckpointedGradientAccumulator::Sums CheckpointedGradientAccumulator::sums_for(const Gradients& gradients)
{
    Sums found;
    {
        const std::lock_guard lock(state_->mutex);
        for (const auto& [name, gradient] : gradients) {
            const auto known = state_->sums.find(name);
            found[name] = known == state_->sums.end() ? nullptr : known->second;
        }
    }
    for (auto& [name, sum] : found) {
        check_gradient(name, gradients.at(name));
        if (!sum) sum = std::make_shared<Sum>(gradients.at(name));
    }
    const std::lock_guard lock(state_->mutex);
    for (auto& [name, sum] : found) {
        const auto known = state_->sums.find(name); // by another thread since
        if (known != state_->sums.end()) sum = known->second;
        check_same(name, sum->value, gradients.at(name));
    }
    state_->sums.insert(found.begin(), found.end());
    return found;
}

std::vector<Tensor> CheckpointedGradientAccumulator::add_all(const Gradients& gradients)
{
    const auto sums = sums_for(gradients);
    const no_grad off;
    std::vector<Tensor> added;
    for (const auto& [name, gradient] : gradients)
        added.push_back(is_recording() ? add_recorded(sums.at(name), gradient.detach())
                                       : add(*sums.at(name), gradient.detach()));
    return added;
}

// Without the lock while the addition is made: another thread may come first, then it is made anew.
Tensor CheckpointedGradientAccumulator::add(Sum& sum, const Tensor& gradient)
{
    for (;;) {
        Tensor before; // also where it does not count: what it is made of goes without the lock
        bool first = false;
        std::uint64_t changes = 0;
        {
            const std::lock_guard lock(state_->mutex);
            before = sum.value.detach();
            first = sum.count == 0;
            changes = sum.changes;
        }
        const Tensor after = first ? gradient : before + gradient;
        const std::lock_guard lock(state_->mutex);
        if (sum.changes != changes) continue;
        sum.value.assign(after);
        ++sum.count;
        ++sum.changes;
        return after;
    }
}

// Each call of the program counts, and learns whether its gradient is the first.
Tensor CheckpointedGradientAccumulator::add_recorded(const std::shared_ptr<Sum>& sum, const Tensor& gradient)
{
    const auto first = std::make_shared<double>(0);
    const auto change = [state = state_, sum](std::int64_t by) {
        const std::lock_guard lock(state->mutex);
        ++sum->changes;
        return std::exchange(sum->count, sum->count + by);
    };
    on_each_call([=] { *first = change(1) == 0 ? 1 : 0; }, [=] { change(-1); });
    const Tensor is_first = reshape(host_scalar([first] { return *first; }), {}) > 0;
    const Tensor after = where(is_first, gradient, sum->value + gradient);
    sum->value.assign(after);
    return after;
}

bool CheckpointedGradientAccumulator::should_apply_gradients() const
{
    const std::lock_guard lock(state_->mutex);
    bool any = false;
    for (const auto& [name, sum] : state_->sums) {
        if (sum->count > 0 && sum->count < steps_) return false;
        any = any || sum->count > 0;
    }
    return any;
}

CheckpointedGradientAccumulator::Gradients CheckpointedGradientAccumulator::get_accumulated_gradients() const
{
    Sums all;
    {
        const std::lock_guard lock(state_->mutex);
        if (!is_recording()) return state_->values();
        all = state_->sums;
    }
    Gradients out;
    for (const auto& [name, sum] : all) out[name] = sum->value.detach();
    return out;
}

CheckpointedGradientAccumulator::Gradients CheckpointedGradientAccumulator::
    get_accumulated_gradients_and_reset()
{
    if (is_recording()) {
        Gradients out = get_accumulated_gradients();
        reset();
        return out;
    }
    const std::lock_guard lock(state_->mutex);
    Gradients out = state_->values();
    state_->replace_counts({});
    return out;
}

void CheckpointedGradientAccumulator::reset()
{
    const auto before = std::make_shared<State::Counts>();
    on_each_call(
        [state = state_, before] {
            const std::lock_guard lock(state->mutex);
            *before = state->replace_counts({});
        },
        [state = state_, before] {
            const std::lock_guard lock(state->mutex);
            state->replace_counts(*before);
        });
}

std::int64_t CheckpointedGradientAccumulator::count(const std::string& name) const
{
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->sums.find(name);
    return found == state_->sums.end() ? 0 : found->second->count;
}

} // namespace reprise
