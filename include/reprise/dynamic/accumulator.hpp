// Adding up gradients of one tensor.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>

#include <reprise/dynamic/symbolic_shape.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

// The sum of gradients of one tensor, whose shape may have symbols.  The first gradient sets the shape; later
// ones must have it, symbol for symbol.  Threads may share an accumulator.  Gradients flow through the sum to
// gradients that require one; use no_grad where they should not.  Later assignments to the added tensors do
// not change the sum.
//
// An accumulator belongs to the recording that it was made in, or to eager code; elsewhere its members throw
// Error(state).  To add up over the calls of a program, use a leaf's gradient (DynamicGradientTensor) or the
// calls' results.
class GradientAccumulatorDynamic {
public:
    GradientAccumulatorDynamic(); // no gradient yet
    GradientAccumulatorDynamic(const GradientAccumulatorDynamic&) = delete;
    GradientAccumulatorDynamic& operator=(const GradientAccumulatorDynamic&) = delete;

    // Adds a gradient of a tensor of this shape.  Errors, after which nothing has changed: shape, with both
    // shapes, where the gradient or the sum has another shape; dtype for integers, and where the sum has
    // another dtype; device where the sum is on another device.
    void accumulate(const Tensor& gradient, const SymbolicShape& shape);
    // The same for gradients of single samples, [batch, shape...]: adds their sum over the batch, whose size
    // may be any number, 0, or a symbol, and may differ from call to call.
    void accumulate_batched(const Tensor& gradients, const SymbolicShape& shape);
    // The sum; no value before the first gradient.  Error(shape), with both shapes, where the sum has another
    // shape.
    std::optional<Tensor> get_accumulated(const SymbolicShape& shape) const;
    void reset(); // begins a new sum, of any shape

private:
    void require_own_recording(const char* op) const;
    Tensor total() const;
    void add_to_total(const char* op, const Tensor& gradient);

    mutable std::mutex mutex_; // of total_
    Tensor total_;             // undefined: nothing yet
    std::uint32_t recording_;  // 0: none
};

} // namespace reprise
