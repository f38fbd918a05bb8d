#include <reprise/dynamic/accumulator.hpp>

#include <utility>

#include <reprise/autocast.hpp>
#include <reprise/autograd/grad.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/program.hpp>

#include "dynamic/check.hpp"

namespace reprise {

using dynamic::check_shape;

namespace {

// Returns a copy that later assignments to the tensor do not affect, nor the reverse.
Tensor independent(const Tensor& t) { return grad_enabled() ? t.snapshot() : t.detach().clone(); }

} // namespace

GradientAccumulatorDynamic::GradientAccumulatorDynamic() : recording_(recording_id()) {}

void GradientAccumulatorDynamic::accumulate(const Tensor& gradient, const SymbolicShape& shape)
{
    require_own_recording("accumulate");
    check_shape("accumulate", "gradient", gradient.shape(), shape, "the given one is");
    add_to_total("accumulate", gradient);
}

void GradientAccumulatorDynamic::accumulate_batched(const Tensor& gradients, const SymbolicShape& shape)
{
    require_own_recording("accumulate_batched");
    const Shape given = gradients.shape();
    if (given.empty())
        detail::fail(ErrorKind::shape, "accumulate_batched", "The gradients have the shape (",
                     to_string(given), ") but a batch of (", shape,
                     ") is wanted: give them a dimension in front.");
    check_shape("accumulate_batched", "gradient of a sample", Shape(given.begin() + 1, given.end()), shape,
                "the given one is");
    const autocast off(bf16, false);
    add_to_total("accumulate_batched", sum(gradients, {0}));
}

std::optional<Tensor> GradientAccumulatorDynamic::get_accumulated(const SymbolicShape& shape) const
{
    require_own_recording("get_accumulated");
    const Tensor t = total();
    if (!t.defined()) return std::nullopt;
    check_shape("get_accumulated", "sum", t.shape(), shape, "the requested one is");
    return independent(t);
}

void GradientAccumulatorDynamic::reset()
{
    require_own_recording("reset");
    Tensor before; // destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    std::swap(before, total_);
}

void GradientAccumulatorDynamic::require_own_recording(const char* op) const
{
    if (recording_ != recording_id())
        detail::fail(ErrorKind::state, op, "The accumulator was made in (", recording_ ? "another" : "no",
                     ") recording: make one where it is used.");
}

Tensor GradientAccumulatorDynamic::total() const
{
    const std::lock_guard lock(mutex_);
    return total_;
}

void GradientAccumulatorDynamic::add_to_total(const char* op, const Tensor& gradient)
{
    if (!is_floating(gradient.dtype()))
        detail::fail(ErrorKind::dtype, op, "The gradient is ", name_of(gradient.dtype()),
                     ": only floating dtypes have gradients.");
    while (true) {
        const Tensor before = total();
        if (before.defined()) {
            check_shape(op, "sum", before.shape(), gradient.shape(), "that of the gradient is");
            if (before.dtype() != gradient.dtype())
                detail::fail(ErrorKind::dtype, op, "The gradient is ", name_of(gradient.dtype()),
                             " but the sum is ", name_of(before.dtype()), ": cast it.");
        }
        const Tensor after = before.defined() ? add(before, gradient) : independent(gradient);
        const std::lock_guard lock(mutex_);
        if (total_.cell() != before.cell()) continue; // another thread was first
        total_ = after;
        return;
    }
}

} // namespace reprise
