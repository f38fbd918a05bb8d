#include <reprise/checkpointing/accumulator.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <reprise/autograd/grad.hpp>
#include <reprise/error.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/program.hpp>

#include "checkpointing/sums.hpp"

namespace reprise {

using checkpointing::Type;

namespace {

constexpr const char* op = "CheckpointedGradientAccumulator";

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

void check_same(const std::string& name, const Type& sum, const Type& gradient)
{
    if (const auto kind = difference(sum, gradient))
        detail::fail(*kind, op, "The gradient of (", name, ") is ", describe(gradient), ", but its sum is ",
                     describe(sum), ": give each tensor's gradients a name of their own.");
}

void eval_all(const CheckpointedGradientAccumulator::Gradients& gradients)
{
    std::vector<Tensor> all;
    for (const auto& [name, gradient] : gradients) all.push_back(gradient);
    eval(all);
}

// Returns an f32 scalar, shape [], which is queried at each call.
Tensor number_of_call(const std::shared_ptr<double>& value)
{
    return reshape(host_scalar([value] { return *value; }), {});
}

} // namespace

CheckpointedGradientAccumulator::CheckpointedGradientAccumulator(std::int64_t steps)
    : steps_(steps), state_(std::make_shared<State>())
{
    if (steps < 1)
        detail::fail(ErrorKind::argument, op, "The number of steps (", steps, ") must be at least 1.");
}
CheckpointedGradientAccumulator::~CheckpointedGradientAccumulator() = default;

// ---- adding ----

void CheckpointedGradientAccumulator::accumulate(const std::string& name, const Tensor& gradient)
{
    if (is_recording()) record_sums({{name, gradient}});
    else add({{name, gradient}}, false);
}

void CheckpointedGradientAccumulator::accumulate(const Gradients& gradients)
{
    if (is_recording()) record_sums(gradients);
    else add(gradients, true);
}

CheckpointedGradientAccumulator::Befores CheckpointedGradientAccumulator::find(
    const Gradients& gradients) const
{
    for (const auto& [name, gradient] : gradients) check_gradient(name, gradient);
    Befores found;
    {
        const std::lock_guard lock(state_->mutex);
        for (const auto& [name, gradient] : gradients)
            found[name].sum = state_->sum_for(name, Type(gradient));
    }
    for (auto& [name, before] : found) {
        const Type type(gradients.at(name));
        before.is_new = !before.sum;
        if (before.is_new) before.sum = std::make_shared<Sum>(type);
        check_same(name, before.sum->type, type);
    }
    return found;
}

// Returns whether the snapshot still refers to the current sums. Called with the mutex locked.
bool CheckpointedGradientAccumulator::has_found(const Befores& found) const
{
    return std::all_of(found.begin(), found.end(), [&](const auto& entry) {
        const auto& [name, before] = entry;
        return state_->sum_for(name, before.sum->type) == (before.is_new ? nullptr : before.sum);
    });
}

// Computes new sums without the lock and retries if another thread has changed them.
void CheckpointedGradientAccumulator::add(const Gradients& gradients, bool now)
{
    const no_grad off;
    for (;;) {
        Befores found = find(gradients); // destroyed after the lock is released
        {
            const std::lock_guard lock(state_->mutex);
            for (auto& [name, before] : found) State::take_snapshot(before);
        }
        Gradients after;
        for (const auto& [name, before] : found) {
            const Tensor gradient = gradients.at(name).detach().clone();
            after[name] = before.counts ? before.value + gradient : gradient;
        }
        if (now) eval_all(after);
        const std::lock_guard lock(state_->mutex);
        if (!has_found(found) || std::any_of(found.begin(), found.end(), [](const auto& entry) {
                return entry.second.sum->changes != entry.second.changes;
            }))
            continue;
        for (auto& [name, before] : found) {
            before.sum->value.assign(after.at(name));
            ++before.sum->count;
            ++before.sum->changes;
            state_->sums[name].swap(before.sum);
        }
        return;
    }
}

// Records an addition. Each call increments the count and reads whether its gradient is the first.
void CheckpointedGradientAccumulator::record_sums(const Gradients& gradients)
{
    const no_grad off;
    Sums sums;
    while (sums.size() != gradients.size()) {
        Befores found = find(gradients);
        const std::lock_guard lock(state_->mutex);
        if (!has_found(found)) continue;
        for (auto& [name, before] : found) {
            sums[name] = State::for_program(before.sum);
            state_->sums[name].swap(before.sum);
        }
    }
    for (const auto& [name, sum] : sums) {
        const auto first = std::make_shared<double>(0);
        const auto change = [state = state_, sum](std::int64_t by) {
            const std::lock_guard lock(state->mutex);
            ++sum->changes;
            return std::exchange(sum->count, sum->count + by);
        };
        on_each_call([first, change] { *first = change(1) == 0 ? 1 : 0; }, [change] { change(-1); });
        const Tensor gradient = gradients.at(name).detach().clone();
        sum->value.assign(where(number_of_call(first) > 0, gradient, sum->value + gradient));
    }
}

// ---- sums ----

bool CheckpointedGradientAccumulator::should_apply_gradients() const
{
    const std::lock_guard lock(state_->mutex);
    return std::any_of(state_->sums.begin(), state_->sums.end(),
                       [&](const auto& entry) { return entry.second->count >= steps_; });
}

// Records the reading of all sums. Each call reads which names have a sum.
CheckpointedGradientAccumulator::Gradients CheckpointedGradientAccumulator::record_reading() const
{
    Sums all;
    {
        const std::lock_guard lock(state_->mutex);
        for (const auto& [name, sum] : state_->sums) all[name] = State::for_program(sum);
    }
    Gradients out;
    for (const auto& [name, sum] : all) {
        const auto counts = std::make_shared<double>(0);
        on_each_call(
            [state = state_, sum, counts] {
                const std::lock_guard lock(state->mutex);
                *counts = sum->count > 0 ? 1 : 0;
            },
            [] {}); // nothing to undo: a retry reads the counts again
        const Tensor value = sum->value.detach().clone();
        out[name] = where(number_of_call(counts) > 0, value, zeros_like(value));
    }
    return out;
}

CheckpointedGradientAccumulator::Gradients CheckpointedGradientAccumulator::read(const Befores& all)
{
    Gradients out;
    for (const auto& [name, before] : all)
        if (before.counts) out[name] = before.value;
    eval_all(out);
    return out;
}

CheckpointedGradientAccumulator::Befores CheckpointedGradientAccumulator::snapshot() const
{
    Befores all;
    const std::lock_guard lock(state_->mutex);
    for (const auto& [name, sum] : state_->sums) State::take_snapshot(all[name] = {.sum = sum});
    return all;
}

CheckpointedGradientAccumulator::Gradients CheckpointedGradientAccumulator::get_accumulated_gradients() const
{
    return is_recording() ? record_reading() : read(snapshot());
}

CheckpointedGradientAccumulator::Gradients CheckpointedGradientAccumulator::
    get_accumulated_gradients_and_reset()
{
    if (is_recording()) {
        Gradients out = record_reading();
        reset();
        return out;
    }
    for (;;) {
        const Befores all = snapshot();
        Gradients out = read(all);
        if (forget(all)) return out;
    }
}

void CheckpointedGradientAccumulator::reset()
{
    if (!is_recording()) {
        while (!forget(snapshot())) continue;
        return;
    }
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

// Resets the sums. State of a program keeps its memory. Returns false if another thread has changed something.
bool CheckpointedGradientAccumulator::forget(const Befores& all)
{
    // These replace the sums, which are destroyed after the lock is released.
    std::map<std::string, Variable> others;
    for (const auto& [name, before] : all)
        if (!before.in_program) others[name] = zeros_of(before.sum->type);
    const std::lock_guard lock(state_->mutex);
    if (!state_->is_unchanged(all)) return false;
    state_->replace_counts({});
    for (auto& [name, zeros] : others) std::swap(state_->sums.at(name)->value, zeros);
    return true;
}

bool CheckpointedGradientAccumulator::remove(const std::string& name)
{
    std::shared_ptr<Sum> removed; // destroyed after the lock is released
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->sums.find(name);
    if (found == state_->sums.end()) return false;
    removed = std::move(found->second);
    state_->sums.erase(found);
    return true;
}

std::int64_t CheckpointedGradientAccumulator::count(const std::string& name) const
{
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->sums.find(name);
    return found == state_->sums.end() ? 0 : found->second->count;
}

} // namespace reprise
