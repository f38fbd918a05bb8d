// Functions with gradients of their own, and other gradients for ops.
#pragma once
#include <any>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

namespace autograd {
struct Saved; // src/autograd/custom_function.cpp
}

// Of one call of a CustomFunction: what its forward leaves for its backward.
class FunctionContext {
public:
    // In forward.  Inputs and outputs are saved as such, so a gradient of the gradient flows through them;
    // any other tensor is a constant.
    void save_for_backward(const std::vector<Tensor>& tensors) { saved_ = tensors; }
    // What was saved, in that order: in forward what was given last, in backward as it is there.  Error(argument) for an
    // index that is not below their number.
    const std::vector<Tensor>& saved() const noexcept { return saved_; }
    const std::vector<Tensor>& get_saved_variables() const noexcept { return saved_; } // PyTorch's name
    const Tensor& saved(std::size_t i) const;
    // One an input: whether its gradient is asked for.  What backward gives for others is not looked at.
    bool needs_input_grad(std::size_t i) const { return needs_.at(i); }
    std::any data; // anything else

private:
    friend class CustomFunction;
    friend struct autograd::Saved;
    std::vector<Tensor> saved_;
    std::vector<bool> needs_;
};

// A function of tensors with a gradient of its own, which may be no derivative at all.  Copies share it.
//
//     CustomFunction my_exp(
//         "my_exp",
//         [](FunctionContext& c, const std::vector<Tensor>& in) {
//             Tensor y = exp(in[0]);
//             c.save_for_backward({y});
//             return std::vector{y};
//         },
//         [](const FunctionContext& c, const std::vector<Tensor>& dy) {
//             return std::vector{dy[0] * c.saved(0)};
//         });
//     Tensor y = my_exp(x);
//
// Both are made of ops, of Kernels, or of both; where the backward is made of ops, gradients of every order
// exist.  They run at the call and in backward passes, in a program while it is recorded only: a value
// can't be read there.  Nothing of the library is locked meanwhile.
class CustomFunction {
public:
    using Forward = std::function<std::vector<Tensor>(FunctionContext&, const std::vector<Tensor>& inputs)>;
    // A cotangent for each output, zeros where nothing arrives (undefined for outputs that are not
    // floating), to one for each input, of its shape and dtype; undefined: none.
    using Backward =
        std::function<std::vector<Tensor>(const FunctionContext&, const std::vector<Tensor>& cotangents)>;

    CustomFunction(std::string name, Forward forward, Backward backward);
    virtual ~CustomFunction() = default;
    CustomFunction(const CustomFunction&) = default;
    CustomFunction(CustomFunction&&) = default;
    CustomFunction& operator=(const CustomFunction&) = default;
    CustomFunction& operator=(CustomFunction&&) = default;

    std::vector<Tensor> call(const std::vector<Tensor>& inputs) const;
    // The first output.
    template <class... Inputs> Tensor operator()(const Inputs&... inputs) const
    {
        return call({inputs...}).at(0);
    }
    const std::string& name() const noexcept { return *name_; }

private:
    std::shared_ptr<const std::string> name_;
    Forward forward_;
    std::shared_ptr<const Backward> backward_;
};

// Of one op that was called while its gradient was overridden.
struct OverriddenOp {
    const std::vector<Tensor>&inputs, &outputs, &cotangents; // as for CustomFunction::Backward
};
// While it lives, ops of this name that this thread calls have this gradient instead of their own, also
// those that have none; what runs inside of backward passes keeps its own.  The innermost of several
// counts.  The name is what TapeNode::operation() gives ("relu", "gelu_erf", "round"); Error(argument)
// where there is no such op.
//
//     override_gradient straight("round", [](const OverriddenOp& op) { return op.cotangents; });
class override_gradient {
public:
    using Gradient = std::function<std::vector<Tensor>(const OverriddenOp&)>;
    override_gradient(const std::string& op, Gradient gradient);
    ~override_gradient();
    override_gradient(const override_gradient&) = delete;
    override_gradient& operator=(const override_gradient&) = delete;

private:
    struct Override;
    std::unique_ptr<Override> override_;
};

} // namespace reprise
