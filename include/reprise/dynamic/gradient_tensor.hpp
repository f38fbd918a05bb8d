// A tensor with its gradient.
#pragma once
#include <optional>

#include <reprise/dynamic/symbolic_shape.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

// A leaf with its gradient, grad(), to which backward() and accumulate_gradient() add, as in truncated backpropagation.
// In record(), grad() is state of the program, as for any leaf. Copies share leaf and gradient. Only one thread at a
// time may use it, its copies and backward() passes that reach the leaf; several threads can add to a
// GradientAccumulatorDynamic instead.
class DynamicGradientTensor {
public:
    // Uses the given tensor if it is a leaf that requires a gradient and `gradient_required` is true; otherwise creates
    // a new leaf with its value, and the tensor does not change. With `gradient_required`: Error(state) for a tensor
    // that was computed from tensors that require a gradient (detach() it), and Error(dtype) for integers.
    explicit DynamicGradientTensor(const Tensor&, bool gradient_required = true);

    const Tensor& tensor() const noexcept { return tensor_; }          // the leaf
    SymbolicShape shape() const { return tensor_.shape(); }            // the leaf's shape
    bool gradient_required() const { return tensor_.requires_grad(); } // whether the leaf requires a gradient

    // Adds to the gradient as backward() does, so the tensor's hooks run first. A gradient that requires one stays
    // differentiable. Errors: shape, with both shapes, unless they are equal symbol for symbol; dtype or device if they
    // differ from the leaf's; state if no gradient is required.
    void accumulate_gradient(const Tensor& gradient);
    // The gradient; no value before the first one. Zeros once a program that adds to it has been recorded, even before
    // its calls.
    std::optional<Tensor> get_gradient() const;
    void clear_gradient(); // removes the gradient

private:
    Tensor tensor_;
};

} // namespace reprise
