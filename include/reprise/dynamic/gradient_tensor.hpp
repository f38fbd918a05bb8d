// A tensor beside its gradient.
#pragma once
#include <optional>

#include <reprise/dynamic/symbolic_shape.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

// A leaf, whose gradient is its grad(): what backward() leaves there and what accumulate_gradient() is given
// add up, as in truncated backpropagation.  In record() it is what a leaf is: grad() is state of the
// program.  Copies share both.  Used by one thread at a time, its copies and the backward() passes that end
// here included; threads add up in a GradientAccumulatorDynamic.
class DynamicGradientTensor {
public:
    // A leaf that requires a gradient stands for itself where one is required here.  Else there is a new leaf
    // with the tensor's value, and the tensor remains as it is.  Error(state) for one that was computed from
    // what requires a gradient, if one is required here: detach() it.  Error(dtype) for integers that are to
    // have a gradient.
    explicit DynamicGradientTensor(const Tensor&, bool gradient_required = true);

    const Tensor& tensor() const noexcept { return tensor_; }
    SymbolicShape shape() const { return tensor_.shape(); }
    bool gradient_required() const { return tensor_.requires_grad(); }

    // As backward() does when it arrives here: hooks of the tensor see it first.  It stays on the tape if it
    // is there.  Error(shape) with both shapes unless they are equal symbol for symbol, Error(dtype),
    // Error(device), Error(state) where no gradient is required.
    void accumulate_gradient(const Tensor& gradient);
    // Nothing before the first; but zeros once a program that adds to it was recorded, be it called or not.
    std::optional<Tensor> get_gradient() const;
    void clear_gradient();

private:
    Tensor tensor_;
};

} // namespace reprise
