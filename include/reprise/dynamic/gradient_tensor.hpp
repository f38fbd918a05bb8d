// A tensor beside its gradient.
#pragma once
#include <optional>

#include <reprise/dynamic/symbolic_shape.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

// A leaf, whose gradient is its grad(): what backward() leaves there and what accumulate_gradient() is given
// add up, as in truncated backpropagation.  In record() it is what a leaf is: grad() is state of the
// program.  Copies share both.
class DynamicGradientTensor {
public:
    // A leaf that requires a gradient stands for itself.  Of another tensor there is a new leaf with its
    // value, and the tensor remains as it is.  Error(state) for one that was computed from what requires a
    // gradient, if one is required here: detach() it.  Error(dtype) for integers that are to have a gradient.
    explicit DynamicGradientTensor(const Tensor&, bool gradient_required = true);

    const Tensor& tensor() const noexcept { return tensor_; }
    SymbolicShape shape() const { return tensor_.shape(); }
    bool gradient_required() const noexcept { return required_; }

    // As backward() does when it arrives here: hooks of the tensor see it first.  It stays on the tape if it
    // is there. Error(shape) with both shapes unless they are equal symbol for symbol, Error(dtype),
    // Error(state) where no gradient is required.
    void accumulate_gradient(const Tensor& gradient);
    std::optional<Tensor> get_gradient() const; // nothing before the first
    void clear_gradient();

private:
    Tensor tensor_;
    bool required_;
};

} // namespace reprise
