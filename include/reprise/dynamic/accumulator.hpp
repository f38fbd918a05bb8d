// Gradients that add up.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>

#include <reprise/dynamic/symbolic_shape.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

// The sum of gradients by one tensor, whose shape may hold symbols: the first gradient decides on it, the
// others must have it symbol for symbol.  Threads may share one; nothing runs under its lock.  A gradient that
// is on the tape stays there: use no_grad where that is not wanted.  What tensors are assigned later changes
// no sum.
//
// It belongs to the recording that it was made in, or to none: elsewhere Error(state).  What is to add up
// over calls of a program is a leaf's gradient (DynamicGradientTensor), or what the calls return.
class GradientAccumulatorDynamic {
public:
    GradientAccumulatorDynamic();
    GradientAccumulatorDynamic(const GradientAccumulatorDynamic&) = delete;
    GradientAccumulatorDynamic& operator=(const GradientAccumulatorDynamic&) = delete;

    // Adds a gradient by a tensor of this shape.  Error(shape) with both shapes where the gradient has
    // another, or the sum has; Error(dtype) for integers and where the sum is of another dtype;
    // Error(device).  What failed changes nothing.
    void accumulate(const Tensor& gradient, const SymbolicShape& shape);
    // The same for gradients of single samples, [batch, shape...]: adds their sum over the batch, which may
    // be of any size, another one at each call, a symbol, or 0.
    void accumulate_batched(const Tensor& gradients, const SymbolicShape& shape);
    // Nothing before the first gradient.  Error(shape) with both shapes where the sum has another.
    std::optional<Tensor> get_accumulated(const SymbolicShape& shape) const;
    void reset(); // as it was at first, for a gradient of any shape

private:
    void require_own_recording(const char* op) const;
    Tensor total() const;
    void add_to_total(const char* op, const Tensor& gradient);

    mutable std::mutex mutex_; // of total_
    Tensor total_;             // undefined: nothing yet
    std::uint32_t recording_;  // 0: none
};

} // namespace reprise
