// Gradient accumulation for one tensor.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>

#include <reprise/dynamic/symbolic_shape.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

// The sum of gradients of one tensor, whose shape may have symbols. The first gradient sets the shape; later ones must
// have the same shape, symbol for symbol. Threads may share an accumulator. Gradients flow through the sum to gradients
// that require one; use no_grad to prevent this. Later assignments to the added tensors do not change the sum.
//
// An accumulator belongs to the recording in which it was created, or to eager code; elsewhere its members throw
// Error(state). To accumulate over the calls of a program, use a leaf's gradient (DynamicGradientTensor) or the calls'
// results.
class GradientAccumulatorDynamic {
public:
    GradientAccumulatorDynamic(); // no gradient yet
    GradientAccumulatorDynamic(const GradientAccumulatorDynamic&) = delete;
    GradientAccumulatorDynamic& operator=(const GradientAccumulatorDynamic&) = delete;

    // Adds a gradient of a tensor of this shape. Errors, after which nothing has changed: shape, with both shapes, if
    // the gradient or the sum has another shape; dtype for integers, and if the sum has another dtype; device if the
    // sum is on another device.
    void accumulate(const Tensor& gradient, const SymbolicShape& shape);
    // As accumulate(), for gradients of single samples, [batch, shape...]: adds their sum over the batch, whose size
    // may be any number, 0, or a symbol, and may differ from call to call.
    void accumulate_batched(const Tensor& gradients, const SymbolicShape& shape);
    // The sum; no value before the first gradient. Error(shape), with both shapes, if the sum has another shape.
    std::optional<Tensor> get_accumulated(const SymbolicShape& shape) const;
    void reset(); // starts a new sum, of any shape

private:
    void require_own_recording(const char* op) const;
    Tensor total() const;
    void add_to_total(const char* op, const Tensor& gradient);

    mutable std::mutex mutex_; // guards total_
    Tensor total_;             // undefined: no gradient yet
    std::uint32_t recording_;  // id of the recording that it belongs to; 0: none
};

} // namespace reprise
